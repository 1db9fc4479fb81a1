import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { BoundedFrequencyRunner, type RunnerOptions } from './bounded-frequency-runner.ts';

const MIN = 1000;
const RETRY = 5000;
const MAX = 30_000;

/** A runner that records the start times of its runs. */
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

/** An fn that takes this long on the clock. */
function takes(clock: () => ManualClock, ms: number): () => Promise<void> {
  return () => new Promise(resolve => clock().setTimer(ms, resolve));
}

test('SYNC-1 a maxInterval below minInterval is refused', () => {
  assert.throws(() => new BoundedFrequencyRunner({ fn() {}, minInterval: 2, retryInterval: 1, maxInterval: 1 }), {
    name: 'RangeError',
    message: 'maxInterval (1) is less than minInterval (2)',
  });
});

test('SYNC-1 a maxInterval that is the same as minInterval is accepted', () => {
  assert.doesNotThrow(() => setUp({ minInterval: MIN, maxInterval: MIN }));
});

test('SYNC-1 a call of run does not run fn before it returns', async () => {
  const { clock, starts, runner } = setUp();
  runner.start();
  runner.run();
  assert.deepEqual(starts, []);
  await clock.advance(0);
  assert.deepEqual(starts, [0]);
});

test('SYNC-1 a request before the start is served after it', async () => {
  const { clock, starts, runner } = setUp();
  runner.run();
  await clock.advance(MAX * 2);
  assert.deepEqual(starts, []);
  runner.start();
  await clock.advance(0);
  assert.deepEqual(starts, [MAX * 2]);
});

test('SYNC-1 the first request is served at once, without waiting for minInterval', async () => {
  const { clock, starts, runner } = setUp();
  runner.start();
  await clock.advance(10);
  runner.run();
  await clock.advance(0);
  assert.deepEqual(starts, [10]);
});

test('SYNC-1 without a request the first run is after maxInterval', async () => {
  const { clock, starts, runner } = setUp();
  runner.start();
  await clock.advance(MAX - 1);
  assert.deepEqual(starts, []);
  await clock.advance(1);
  assert.deepEqual(starts, [MAX]);
});

test('SYNC-1 at least minInterval passes between the end of a run and the next start, also after idle time', async () => {
  const took = 300;
  const setup = setUp({ fn: takes(() => setup.clock, took) });
  const { clock, starts, runner } = setup;
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

test('SYNC-1 requests during a run and during minInterval cause one run right after minInterval', async () => {
  const setup = setUp({ fn: takes(() => setup.clock, 500) });
  const { clock, starts, runner } = setup;
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

test('SYNC-1 a request during a run causes exactly one more run', async () => {
  const setup = setUp({ fn: takes(() => setup.clock, 500) });
  const { clock, starts, runner } = setup;
  runner.start();
  runner.run();
  await clock.advance(100);
  runner.run();
  await clock.advance(20_000);
  assert.deepEqual(starts, [0, 500 + MIN]);
});

test('SYNC-1 several requests at once cause one run', async () => {
  const { clock, starts, runner } = setUp();
  runner.start();
  for (let i = 0; i < 10; i++) runner.run();
  await clock.advance(20_000);
  assert.deepEqual(starts, [0]);
});

test('SYNC-1 runs never overlap, even if they take long', async () => {
  let now = 0;
  let most = 0;
  const setup = setUp({
    fn: async () => {
      most = Math.max(most, ++now);
      await takes(() => setup.clock, 3 * MAX)();
      now--;
    },
  });
  setup.runner.start();
  setup.runner.run();
  for (let i = 0; i < 10; i++) {
    await setup.clock.advance(MAX);
    setup.runner.run();
  }
  assert.equal(most, 1);
  assert.equal(setup.starts[1], 3 * MAX + MIN);
});

test('SYNC-1 a run that failed is retried retryInterval after its end', async () => {
  let failures = 1;
  const setup = setUp({
    fn: async () => {
      await takes(() => setup.clock, 200)();
      if (failures-- > 0) throw new Error('refused');
    },
  });
  setup.runner.start();
  setup.runner.run();
  await setup.clock.advance(20_000);
  assert.deepEqual(setup.starts, [0, 200 + RETRY]);
  assert.deepEqual(
    setup.errors.map(error => String(error)),
    ['Error: refused'],
  );
});

test('SYNC-2 a run that throws has failed too', async () => {
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

test('SYNC-1 a retryInterval shorter than minInterval counts as minInterval', async () => {
  const { clock, starts, runner } = setUp({ retryInterval: 10, fn: () => Promise.reject(new Error('no')) });
  runner.start();
  runner.run();
  await clock.advance(2 * MIN + 500);
  assert.deepEqual(starts, [0, MIN, 2 * MIN]);
});

test('SYNC-1 a retryInterval longer than maxInterval counts as maxInterval', async () => {
  const { clock, starts, runner } = setUp({ retryInterval: 10 * MAX, fn: () => Promise.reject(new Error('no')) });
  runner.start();
  runner.run();
  await clock.advance(2 * MAX);
  assert.deepEqual(starts, [0, MAX, 2 * MAX]);
});

test('SYNC-1 a requested run replaces the scheduled retry', async () => {
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

test('SYNC-1 retries are a constant retryInterval apart', async () => {
  const { clock, starts, runner } = setUp({ fn: () => Promise.reject(new Error('always')) });
  runner.start();
  runner.run();
  await clock.advance(6 * RETRY);
  assert.deepEqual(
    starts,
    [0, 1, 2, 3, 4, 5, 6].map(n => n * RETRY),
  );
});

test('SYNC-1 maxInterval counts from the end of the last run', async () => {
  const took = 700;
  const setup = setUp({ fn: takes(() => setup.clock, took) });
  setup.runner.start();
  await setup.clock.advance(10_000);
  setup.runner.run();
  await setup.clock.advance(2 * MAX);
  assert.deepEqual(setup.starts, [10_000, 10_000 + took + MAX]);
});

test('SYNC-1 with a minInterval of 0 runs follow each other at once', async () => {
  const { clock, starts, runner } = setUp({ minInterval: 0 });
  runner.start();
  for (let i = 0; i < 3; i++) {
    runner.run();
    await clock.advance(0);
  }
  assert.deepEqual(starts, [0, 0, 0]);
});

test('SYNC-1 a request and a due retry during minInterval cause one run', async () => {
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

test('SYNC-2 an error of the error listener does not end the loop', async () => {
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

test('SYNC-12 after a quick run the next may start earlier, so that runs take a fixed part of the time', async () => {
  const setup = setUp({ restPerRun: 4, fn: takes(() => setup.clock, 10) });
  setup.runner.start();
  for (let ms = 0; ms < 190; ms++) {
    setup.runner.run();
    await setup.clock.advance(1);
  }
  assert.deepEqual(setup.starts, [0, 50, 100, 150]);
});

test('SYNC-12 after a slow run the rest is no longer than minInterval', async () => {
  const setup = setUp({ restPerRun: 4, fn: takes(() => setup.clock, 500) });
  setup.runner.start();
  setup.runner.run();
  await setup.clock.advance(100);
  setup.runner.run();
  await setup.clock.advance(2000);
  assert.deepEqual(setup.starts, [0, 500 + MIN]);
});

test('SYNC-12 after a run that failed the rest is minInterval', async () => {
  const { clock, starts, runner } = setUp({
    restPerRun: 4,
    fn: () => {
      throw new Error('the kernel refuses the batch');
    },
  });
  runner.start();
  runner.run();
  await clock.advance(1);
  runner.run();
  await clock.advance(MIN);
  assert.deepEqual(starts, [0, MIN]);
});

test('SYNC-2 stop waits for the run that has begun and leaves no timer', async () => {
  const setup = setUp({ fn: takes(() => setup.clock, 500) });
  setup.runner.start();
  setup.runner.run();
  await setup.clock.advance(100);
  let stopped = false;
  const stop = setup.runner.stop().then(() => {
    stopped = true;
  });
  await setup.clock.advance(399);
  assert.equal(stopped, false);
  await setup.clock.advance(1);
  await stop;
  assert.equal(setup.clock.pending, 0);
});

test('SYNC-2 after stop nothing runs, although runs are requested', async () => {
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

test('SYNC-2 stop may be called twice and before the start', async () => {
  const { clock, runner } = setUp();
  await runner.stop();
  await runner.stop();
  runner.start();
  assert.equal(clock.pending, 0);
});
