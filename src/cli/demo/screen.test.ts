import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Screen } from './screen.ts';

function setUp(size: { columns?: number; rows?: number } = {}) {
  const written: string[] = [];
  const screen = new Screen({ write: (text: string) => written.push(text), ...size });
  return { written, screen };
}

const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i}`);

test('DEMO-5 each picture replaces the former one, on the alternate screen', () => {
  const { written, screen } = setUp();
  screen.draw(['one', 'two']);
  screen.draw(['three']);
  assert.deepEqual(written, [
    '\x1b[?1049h\x1b[?25l\x1b[?2026h\x1b[Hone\x1b[K\r\ntwo\x1b[K\x1b[J\x1b[?2026l',
    '\x1b[?2026h\x1b[Hthree\x1b[K\x1b[J\x1b[?2026l',
  ]);
});

test('DEMO-5 the terminal is restored once, and only if something was drawn', () => {
  const { written, screen } = setUp();
  screen.close();
  assert.deepEqual(written, []);
  screen.draw([]);
  screen.close();
  screen.close();
  assert.deepEqual(written.slice(1), ['\x1b[?25h\x1b[?1049l']);
});

test('DEMO-5 a picture that is too tall shows how many lines are missing', () => {
  const { written, screen } = setUp({ rows: 5, columns: 80 });
  screen.draw(lines(5));
  screen.draw(lines(6));
  assert.doesNotMatch(written[0] ?? '', /more lines/);
  assert.match(written[1] ?? '', /line 3.*… 2 more lines: make the terminal taller/s);
  assert.doesNotMatch(written[1] ?? '', /line 4/);
});

test('DEMO-5 the width is that of the terminal, or 80 if it is unknown', () => {
  assert.equal(setUp({ columns: 132 }).screen.width, 132);
  assert.equal(setUp().screen.width, 80);
});
