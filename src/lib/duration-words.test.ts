import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durationWords } from './duration-words.ts';

test('INSPECT-20 durations have at most two units', () => {
  const cases: readonly (readonly [seconds: number, words: string])[] = [
    [0, '0 s'],
    [59.9, '59 s'],
    [60, '1 min'],
    [3599, '59 min'],
    [3600, '1 h'],
    [11_530, '3 h 12 min'],
    [86_400, '1 d'],
    [187_200, '2 d 4 h'],
  ];
  for (const [seconds, words] of cases) assert.equal(durationWords(seconds), words);
});
