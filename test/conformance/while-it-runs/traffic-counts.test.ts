import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countsText, isFlawless, readCounts } from './traffic-counts.ts';

const summary = (...targets: readonly object[]) => JSON.stringify({ targets, lost: 0 });
const GOOD = { name: 'a', answered: 7, failed: 0, slowestMs: 3, answers: { pod: 7 } };
const BAD = { name: 'b', answered: 6, failed: 1, slowestMs: 4, answers: { pod: 6 } };
const FAILURE = '16:00:00.000 b: connect ECONNREFUSED after 1 ms';

describe('connections while the proxies change', () => {
  test('CONFORM-8 a single failed connection is a fault, and so is a client without connections', () => {
    assert.equal(isFlawless(readCounts(`polling\n${summary(GOOD)}\n`)), true);
    assert.equal(isFlawless(readCounts(`polling\n${FAILURE}\n${summary(GOOD, BAD)}\n`)), false);
    assert.equal(isFlawless(readCounts(summary({ ...GOOD, answered: 0 }))), false);
    assert.equal(isFlawless([]), false);
  });

  test('CONFORM-8 the report has the counts of each client, and when and why a connection failed', () => {
    assert.deepEqual(countsText(readCounts(`polling\n${FAILURE}\n${summary(GOOD, BAD)}\n`)).split('\n'), [
      'a: 7 connections answered, 0 failed, slowest 3 ms',
      'b: 6 connections answered, 1 failed, slowest 4 ms',
      `  ${FAILURE}`,
    ]);
  });

  test('CONFORM-8 a client that ended early is an error', () => {
    assert.throws(() => readCounts('polling\nKilled\n'), /ended early: Killed/);
  });
});
