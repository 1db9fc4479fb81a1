import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../../test/support/manual-clock.ts';
import { Intake, type Step } from './backlog-reader.ts';

class Harness {
  readonly clock = new ManualClock();
  readonly intake: Intake;
  taken = 0;
  #deferred: (() => void)[] = [];

  constructor(step: (taken: number) => Step) {
    this.intake = new Intake({
      poll: { defer: work => this.#deferred.push(work) },
      clock: this.clock,
      stepsATurn: 64,
      step: () => step(this.taken++),
    });
  }

  /** Does what was put off, and says whether there was anything. */
  runDeferred(): boolean {
    const work = this.#deferred;
    this.#deferred = [];
    for (const run of work) run();
    return work.length > 0;
  }
}

test('USER-7 others get their turn in between, and nothing is left over', () => {
  const harness = new Harness(taken => (taken < 100 ? 'taken' : 'nothing'));
  harness.intake.run();
  assert.equal(harness.taken, 64);
  assert.ok(harness.runDeferred());
  assert.equal(harness.taken, 101);
  assert.ok(!harness.runDeferred());
});

test('USER-7 what waits behind many errors is taken all the same, without being told of again', async () => {
  const harness = new Harness(taken => (taken < 40 ? 'failed' : taken < 50 ? 'taken' : 'nothing'));
  harness.intake.run();
  while (harness.clock.pending > 0) await harness.clock.advance(100);
  assert.equal(harness.taken, 51);
});

test('USER-19 an error that lasts, and what cannot be done now, are tried ten times a second', async () => {
  for (const [step, each] of [
    ['failed', 17],
    ['later', 1],
  ] as const) {
    const harness = new Harness(() => step);
    harness.intake.run();
    for (let i = 0; i < 10; i++) {
      assert.ok(!harness.runDeferred());
      await harness.clock.advance(100);
    }
    assert.equal(harness.taken, 11 * each);
    harness.intake.close();
    assert.equal(harness.clock.pending, 0);
  }
});

test('USER-7 nothing is taken once it is closed', () => {
  const harness = new Harness(() => {
    harness.intake.close();
    return 'taken';
  });
  harness.intake.run();
  harness.intake.run();
  assert.equal(harness.taken, 1);
});
