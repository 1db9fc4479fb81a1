import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { diffTexts, type Segment } from './text-diff.ts';

/** Parts that differ stand in brackets. */
function marked(segments: readonly Segment[]): string {
  return segments.map(({ text, isSame }) => (isSame ? text : `[${text}]`)).join('');
}

describe('the difference of two entries', () => {
  test('PAGE-70 marks the words that differ, on both sides', () => {
    const { wanted, found } = diffTexts(
      '10.96.0.10 . tcp . 80 : 10.244.2.2 . 8080',
      '10.96.0.10 . tcp . 80 : 10.9.9.9 . 99',
    );
    assert.equal(marked(wanted), '10.96.0.10 . tcp . 80 : [10.244.2.2 ]. [8080]');
    assert.equal(marked(found), '10.96.0.10 . tcp . 80 : [10.9.9.9 ]. [99]');
  });

  test('PAGE-70 marks words that only one side has', () => {
    const { wanted, found } = diffTexts('ip saddr 192.0.2.0/24 return', 'ip saddr 192.0.2.0/24 counter return');
    assert.equal(marked(wanted), 'ip saddr 192.0.2.0/24 return');
    assert.equal(marked(found), 'ip saddr 192.0.2.0/24 [counter ]return');
  });

  test('PAGE-70 loses no character, also of very long texts', () => {
    const long = Array.from({ length: 5000 }, (_, i) => `w${i}`).join(' ');
    for (const [a, b] of [
      ['', 'x'],
      [' a  b ', 'a b'],
      [long, `${long} end`],
      [long, long.replace('w2500', 'other')],
    ] as const) {
      const { wanted, found } = diffTexts(a, b);
      assert.equal(wanted.map(({ text }) => text).join(''), a);
      assert.equal(found.map(({ text }) => text).join(''), b);
    }
    assert.equal(
      diffTexts(long, long.replace('w2500', 'other'))
        .found.filter(({ isSame }) => !isSame)
        .map(({ text }) => text)
        .join(),
      'other ',
    );
  });
});
