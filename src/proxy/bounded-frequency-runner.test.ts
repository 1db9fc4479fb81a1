import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { BoundedFrequencyRunner, type RunnerOptions } from './bounded-frequency-runner.ts';

const MIN = 1000;
const RETRY = 5000;
const MAX = 30_000;

/** A runner whose runs are noted by the time of their start. */
function setUp(options: Partial<RunnerOptions> = {}) {
  const clock = new ManualClock();
  const starts: number[] = [];
  const errors: unknown[] = [];
  const { fn, ...rest } = options;
  const runner = new BoundedFrequencyRunner({
    minInterval: MIN,
    retryInterval: RETRY,
    maxInterval: MAX,
    onError: error => errors.push(error),
    clock,
    ...rest,
    fn: () => {
      starts.push(clock.now());
      return fn?.();
    },
  });
  return { clock, starts, errors, runner };
}

/** An fn that takes time on the clock. */
function takes(clock: () => ManualClock, ms: number): () => Promise<void> {
  return () => new Promise(resolve => clock().setTimer(ms, resolve));
}

test('SYNC-1 a maxInterval below minInterval is refused', () => {
  assert.throws(() => new BoundedFrequencyRunner({ fn() {}, minInterval: 2, retryInterval: 1, maxInterval: 1 }), {
    name: 'RangeError',
    message: 'maxInterval (1) is less than minInterval (2)',
  });
});

test('SYNC-1 run never runs fn itself', async () => {
  const { clock, starts, runner } = setUp();
  runner.start();
  runner.run();
  assert.deepEqual(starts, []);
  await clock.advance(0);
  assert.deepEqual(starts, [0]);
});

test('SYNC-1 a request made before the start waits for it', async () => {
  const { clock, starts, runner } = setUp();
  runner.run();
  await clock.advance(MAX * 2);
  assert.deepEqual(starts, []);
  runner.start();
  await clock.advance(0);
  assert.deepEqual(starts, [MAX * 2]);
});

test('SYNC-1 the first request runs immediately, without an initial min wait', async () => {
  const { clock, starts, runner } = setUp();
  runner.start();
  await clock.advance(10);
  runner.run();
  await clock.advance(0);
  assert.deepEqual(starts, [10]);
});

test('SYNC-1 with no request the first run is at maxInterval', async () => {
  const { clock, starts, runner } = setUp();
  runner.start();
  await clock.advance(MAX - 1);
  assert.deepEqual(starts, []);
  await clock.advance(1);
  assert.deepEqual(starts, [MAX]);
});

test('SYNC-1 there is at least minInterval between the completion of a run and the next start, also after idle time', async () => {
  const took = 300;
  const rig = setUp({ fn: takes(() => rig.clock, took) });
  const { clock, starts, runner } = rig;
  runner.start();
  await clock.advance(20_000);
  runner.run();
  await clock.advance(0);
  for (let i = 0; i < 30; i++) {
    runner.run();
    await clock.advance(100);
  }
  assert.deepEqual(starts, [20_000, 20_000 + took + MIN, 20_000 + 2 * (took + MIN)]);
});

test('SYNC-1 requests during fn and during the min wait coalesce into one run right after the min wait', async () => {
  const rig = setUp({ fn: takes(() => rig.clock, 500) });
  const { clock, starts, runner } = rig;
  runner.start();
  runner.run();
  await clock.advance(200);
  runner.run();
  runner.run();
  await clock.advance(500);
  runner.run();
  runner.run();
  await clock.advance(20_000);
  assert.deepEqual(starts, [0, 500 + MIN]);
});

test('SYNC-1 a request made during fn causes exactly one more run', async () => {
  const rig = setUp({ fn: takes(() => rig.clock, 500) });
  const { clock, starts, runner } = rig;
  runner.start();
  runner.run();
  await clock.advance(100);
  runner.run();
  await clock.advance(20_000);
  assert.deepEqual(starts, [0, 500 + MIN]);
});

test('SYNC-1 several requests at once are one run', async () => {
  const { clock, starts, runner } = setUp();
  runner.start();
  for (let i = 0; i < 10; i++) runner.run();
  await clock.advance(20_000);
  assert.deepEqual(starts, [0]);
});

test('SYNC-1 fn never runs twice at a time, however long it takes', async () => {
  let now = 0;
  let most = 0;
  const rig = setUp({
    fn: async () => {
      most = Math.max(most, ++now);
      await takes(() => rig.clock, 3 * MAX)();
      now--;
    },
  });
  rig.runner.start();
  rig.runner.run();
  for (let i = 0; i < 10; i++) {
    await rig.clock.advance(MAX);
    rig.runner.run();
  }
  assert.equal(most, 1);
  assert.equal(rig.starts[1], 3 * MAX + MIN);
});

test('SYNC-1 an error is retried after retryInterval, counted from completion', async () => {
  let failures = 1;
  const rig = setUp({
    fn: async () => {
      await takes(() => rig.clock, 200)();
      if (failures-- > 0) throw new Error('refused');
    },
  });
  rig.runner.start();
  rig.runner.run();
  await rig.clock.advance(20_000);
  assert.deepEqual(rig.starts, [0, 200 + RETRY]);
  assert.deepEqual(
    rig.errors.map(error => String(error)),
    ['Error: refused'],
  );
});

test('SYNC-2 an fn that throws instead of rejecting is an error too', async () => {
  const { clock, starts, errors, runner } = setUp({
    fn: () => {
      throw new Error('thrown');
    },
  });
  runner.start();
  runner.run();
  await clock.advance(RETRY);
  assert.deepEqual(starts, [0, RETRY]);
  assert.equal(errors.length, 2);
});

test('SYNC-1 a retry shorter than minInterval is delayed to minInterval', async () => {
  const { clock, starts, runner } = setUp({ retryInterval: 10, fn: () => Promise.reject(new Error('no')) });
  runner.start();
  runner.run();
  await clock.advance(2 * MIN + 500);
  assert.deepEqual(starts, [0, MIN, 2 * MIN]);
});

test('SYNC-1 a retry longer than maxInterval happens at maxInterval', async () => {
  const { clock, starts, runner } = setUp({ retryInterval: 10 * MAX, fn: () => Promise.reject(new Error('no')) });
  runner.start();
  runner.run();
  await clock.advance(2 * MAX);
  assert.deepEqual(starts, [0, MAX, 2 * MAX]);
});

test('SYNC-1 any run replaces a scheduled retry', async () => {
  let failures = 1;
  const { clock, starts, runner } = setUp({
    fn: () => {
      if (failures-- > 0) throw new Error('once');
    },
  });
  runner.start();
  runner.run();
  await clock.advance(2000);
  runner.run();
  await clock.advance(MAX - 1);
  assert.deepEqual(starts, [0, 2000]);
});

test('SYNC-1 errors repeat at a constant retryInterval, without growing', async () => {
  const { clock, starts, runner } = setUp({ fn: () => Promise.reject(new Error('always')) });
  runner.start();
  runner.run();
  await clock.advance(6 * RETRY);
  assert.deepEqual(
    starts,
    [0, 1, 2, 3, 4, 5, 6].map(n => n * RETRY),
  );
});

test('SYNC-1 maxInterval counts from the last completion', async () => {
  const took = 700;
  const rig = setUp({ fn: takes(() => rig.clock, took) });
  rig.runner.start();
  await rig.clock.advance(10_000);
  rig.runner.run();
  await rig.clock.advance(2 * MAX);
  assert.deepEqual(rig.starts, [10_000, 10_000 + took + MAX]);
});

test('SYNC-1 minInterval 0 means back-to-back runs', async () => {
  const { clock, starts, runner } = setUp({ minInterval: 0 });
  runner.start();
  for (let i = 0; i < 3; i++) {
    runner.run();
    await clock.advance(0);
  }
  assert.deepEqual(starts, [0, 0, 0]);
});

test('SYNC-1 a request during the min wait does not bring a second run for a retry that fell due meanwhile', async () => {
  let failures = 1;
  const { clock, starts, runner } = setUp({
    retryInterval: 10,
    fn: () => {
      if (failures-- > 0) throw new Error('once');
    },
  });
  runner.start();
  runner.run();
  await clock.advance(500);
  runner.run();
  await clock.advance(20_000);
  assert.deepEqual(starts, [0, MIN]);
});

test('SYNC-2 a listener to errors that throws does not end the loop', async () => {
  const { clock, starts, runner } = setUp({
    fn: () => Promise.reject(new Error('no')),
    onError: () => {
      throw new Error('worse');
    },
  });
  runner.start();
  runner.run();
  await clock.advance(RETRY);
  assert.deepEqual(starts, [0, RETRY]);
});

test('SYNC-2 stop waits for the run that is under way and leaves no timer', async () => {
  const rig = setUp({ fn: takes(() => rig.clock, 500) });
  rig.runner.start();
  rig.runner.run();
  await rig.clock.advance(100);
  let stopped = false;
  const stop = rig.runner.stop().then(() => {
    stopped = true;
  });
  await rig.clock.advance(399);
  assert.equal(stopped, false);
  await rig.clock.advance(1);
  await stop;
  assert.equal(rig.clock.pending, 0);
});

test('SYNC-2 after stop nothing runs, whatever was asked for before or after', async () => {
  const { clock, starts, runner } = setUp();
  runner.start();
  runner.run();
  await runner.stop();
  assert.equal(clock.pending, 0);
  runner.run();
  runner.start();
  await clock.advance(2 * MAX);
  assert.deepEqual(starts, []);
});

test('SYNC-2 stopping twice and stopping before the start are harmless', async () => {
  const { clock, runner } = setUp();
  await runner.stop();
  await runner.stop();
  runner.start();
  assert.equal(clock.pending, 0);
});
