import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointsText, olderText, rateText, shortList } from './row-texts.ts';

test('PAGE-43 a row says the numbers in few figures', () => {
  assert.deepEqual([0, 0.04, 3.25, 27.4, 1340].map(rateText), ['0', '0.0', '3.3', '27', '1,340']);
  assert.equal(endpointsText([]), '–');
  assert.equal(
    endpointsText([
      { family: 'IPv4', used: 1, all: 2 },
      { family: 'IPv6', used: 1, all: 2 },
    ]),
    '1/2',
  );
  assert.equal(
    endpointsText([
      { family: 'IPv4', used: 1, all: 2 },
      { family: 'IPv6', used: 0, all: 2 },
    ]),
    '1/2 0/2',
  );
  assert.equal(shortList(['a', 'b', 'c', 'd', 'e']), 'a b +3');
});

test('PAGE-43 a change that the history does not have is older than the history', () => {
  assert.equal(olderText(1000, 61_000), '> 1 min');
  assert.equal(olderText(undefined, 61_000), '–');
});
