import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { Key } from './keys.ts';
import { Screen } from './screen.ts';

function setUp(size: { columns?: number; rows?: number } = {}) {
  const written: string[] = [];
  const screen = new Screen({ write: (text: string) => written.push(text), ...size });
  return { written, screen };
}

const lines = (count: number, word = 'line') => Array.from({ length: count }, (_, i) => `${word} ${i}`);

/** The lines of a picture without control codes. */
const shown = (written: string | undefined) => stripVTControlCharacters(written ?? '').split('\r\n');

test('DEMO-5 each picture replaces the former one, on the alternate screen', () => {
  const { written, screen } = setUp();
  screen.draw({ fixed: ['one'], scrolled: ['two'] });
  screen.draw({ fixed: ['three'], scrolled: [] });
  assert.deepEqual(written, [
    '\x1b[?1049h\x1b[?25l\x1b[?2026h\x1b[Hone\x1b[K\r\ntwo\x1b[K\x1b[J\x1b[?2026l',
    '\x1b[?2026h\x1b[Hthree\x1b[K\x1b[J\x1b[?2026l',
  ]);
});

test('DEMO-5 the terminal is restored once, and only if something was drawn', () => {
  const { written, screen } = setUp();
  screen.close();
  assert.deepEqual(written, []);
  screen.draw({ fixed: [], scrolled: [] });
  screen.close();
  screen.close();
  assert.deepEqual(written.slice(1), ['\x1b[?25h\x1b[?1049l']);
});

test('DEMO-8 a picture that is too tall shows its position, and keys show the other parts', () => {
  const { written, screen } = setUp({ rows: 7, columns: 80 });
  const picture = { fixed: lines(2, 'head'), scrolled: lines(9) };
  const positions: readonly [keys: readonly Key[], first: number][] = [
    [[], 0],
    [['down'], 1],
    [['up', 'up', 'up'], 0],
    [['page-down'], 4],
    [['page-down'], 5],
    [['up'], 4],
    [['page-up'], 0],
    [['end'], 5],
    [['quit'], 5],
    [['home'], 0],
  ];
  for (const [keys, first] of positions) {
    for (const key of keys) screen.scroll(key);
    screen.draw(picture);
    assert.deepEqual(shown(written.at(-1)), [
      'head 0',
      'head 1',
      ...lines(9).slice(first, first + 4),
      `lines ${first + 1}–${first + 4} of 9; ↑ ↓ PgUp PgDn Home End scroll`,
    ]);
  }
});

test('DEMO-8 keys that come before the next picture all count', () => {
  const { written, screen } = setUp({ rows: 7, columns: 80 });
  const picture = { fixed: [], scrolled: lines(9) };
  screen.draw(picture);
  for (const key of ['end', 'home', 'down'] as const) screen.scroll(key);
  screen.draw(picture);
  assert.equal(shown(written.at(-1))[0], 'line 1');
});

test('DEMO-8 a picture that fits again is shown from its start', () => {
  const { written, screen } = setUp({ rows: 7, columns: 80 });
  screen.draw({ fixed: [], scrolled: lines(9) });
  screen.scroll('end');
  screen.draw({ fixed: [], scrolled: lines(7) });
  assert.deepEqual(shown(written.at(-1)), lines(7));
});

test('DEMO-8 on a very small terminal everything is scrolled, and nothing is wider or taller than the terminal', () => {
  for (const rows of [1, 2, 3, 4, 5]) {
    const { written, screen } = setUp({ rows, columns: 10 });
    screen.draw({ fixed: lines(3, 'head'), scrolled: lines(9) });
    const picture = shown(written[0]);
    assert.ok(picture.length <= rows, `${rows} rows: ${picture}`);
    assert.ok(picture.every(line => line.length <= 10));
  }
});

test('DEMO-5 the width is that of the terminal, or 80 if it is unknown', () => {
  assert.equal(setUp({ columns: 132 }).screen.width, 132);
  assert.equal(setUp().screen.width, 80);
});
