import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import type { Flow, FlowFilter } from '../kernel/conntrack/index.ts';
import { ConnectionPoll } from './connection-poll.ts';

const FLOW = {} as Flow;

/** A poll of a table whose looks take this long. */
function setUp(lookMs: () => number) {
  const clock = new ManualClock();
  const looks: number[] = [];
  const errors: unknown[] = [];
  let finished = 0;
  let isClosed = false;
  const poll = new ConnectionPoll({
    clock,
    open: () => ({
      async *batchesInBackground(_filter: FlowFilter) {
        looks.push(clock.elapsed());
        await new Promise<void>(resolve => clock.setTimer(lookMs(), resolve));
        yield [FLOW];
      },
      close: () => {
        isClosed = true;
      },
    }),
    filters: async () => [{ family: 'IPv4' }],
    found: flow => assert.equal(flow, FLOW),
    finished: async () => {
      finished++;
    },
    onError: error => errors.push(error),
  });
  return { clock, looks, errors, poll, isClosed: () => isClosed, finished: () => finished };
}

test('BALANCE-63 the proxy looks once a second', async () => {
  const { clock, looks, finished } = setUp(() => 10);
  await clock.advance(3500);
  assert.deepEqual([looks, finished()], [[1000, 2000, 3000], 3]);
});

test('BALANCE-63 looks that take long follow each other more slowly, at most a twentieth of the time', async () => {
  const { clock, looks } = setUp(() => 200);
  await clock.advance(10_000);
  assert.deepEqual(looks, [1000, 5000, 9000]);
});

test('BALANCE-63 after a failure the proxy reports it and looks again later', async () => {
  let failures = 1;
  const { clock, errors, looks } = setUp(() => {
    if (failures-- > 0) throw new Error('no table');
    return 0;
  });
  await clock.advance(31_500);
  assert.equal(errors.length, 1);
  assert.deepEqual(looks, [1000, 31_000]);
});

test('BALANCE-60 closing ends the look that runs, and leaves no timer', async () => {
  const { clock, poll, isClosed, finished } = setUp(() => 100);
  await clock.advance(1050);
  const closed = poll.close();
  assert.equal(isClosed(), false);
  await clock.advance(50);
  await closed;
  assert.deepEqual([isClosed(), finished(), clock.pending], [true, 0, 0]);
});
