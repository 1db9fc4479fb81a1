import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { BacklogReader, type StepOutcome } from './backlog-reader.ts';

class Harness {
  readonly clock = new ManualClock();
  readonly reader: BacklogReader;
  taken = 0;
  #deferred: (() => void)[] = [];

  constructor(step: (taken: number) => StepOutcome) {
    this.reader = new BacklogReader({
      poll: { defer: work => this.#deferred.push(work) },
      clock: this.clock,
      stepsPerTurn: 64,
      step: () => step(this.taken++),
    });
  }

  /** Runs deferred work, and returns whether there was any. */
  runDeferred(): boolean {
    const work = this.#deferred;
    this.#deferred = [];
    for (const run of work) run();
    return work.length > 0;
  }
}

test('USER-7 a reader pauses for other sockets, and still takes everything', () => {
  const harness = new Harness(taken => (taken < 100 ? 'taken' : 'empty'));
  harness.reader.run();
  assert.equal(harness.taken, 64);
  assert.ok(harness.runDeferred());
  assert.equal(harness.taken, 101);
  assert.ok(!harness.runDeferred());
});

test('USER-7 a reader takes what waits behind many failures, without a new event', async () => {
  const harness = new Harness(taken => (taken < 40 ? 'failed' : taken < 50 ? 'taken' : 'empty'));
  harness.reader.run();
  while (harness.clock.pending > 0) await harness.clock.advance(100);
  assert.equal(harness.taken, 51);
});

test('USER-19 a reader retries ten times a second while steps fail or cannot be done', async () => {
  for (const [step, each] of [
    ['failed', 17],
    ['later', 1],
  ] as const) {
    const harness = new Harness(() => step);
    harness.reader.run();
    for (let i = 0; i < 10; i++) {
      assert.ok(!harness.runDeferred());
      await harness.clock.advance(100);
    }
    assert.equal(harness.taken, 11 * each);
    harness.reader.close();
    assert.equal(harness.clock.pending, 0);
  }
});

test('USER-7 a closed reader takes nothing', () => {
  const harness = new Harness(() => {
    harness.reader.close();
    return 'taken';
  });
  harness.reader.run();
  harness.reader.run();
  assert.equal(harness.taken, 1);
});
