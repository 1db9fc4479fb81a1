import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberingLog } from '../../test/support/log.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import type { LockAttempt } from '../kernel/instance-lock.ts';
import { Checks } from '../observe/health/index.ts';
import { becomeOnlyInstance } from './only-instance.ts';

const LINE = 'Another Pointsman kube-proxy runs in this network namespace; waiting until it ends';

test('START-17 a proxy that waits is not ready, logs at growing intervals, and logs another holder at once', async () => {
  const clock = new ManualClock();
  const { log, lines } = rememberingLog();
  const checks = new Checks();
  let holder: number | undefined = 2 ** 40;
  let isWanted = true;
  const take = (): LockAttempt => ({ holder: { inode: holder } });
  const outcome = becomeOnlyInstance({ log, checks, isWanted: () => isWanted, take, clock });
  /** The times at which lines were logged, in whole steps of the clock. */
  const times: number[] = [];
  const advance = async (seconds: number) => {
    for (const end = clock.elapsed() + seconds * 1000; clock.elapsed() < end; ) {
      const before = lines.length;
      await clock.advance(2000);
      if (lines.length > before) times.push(Math.round(clock.elapsed() / 1000));
    }
  };
  assert.equal(lines.length, 1);
  assert.ok(lines[0]?.startsWith(`E ${LINE} `));
  await advance(2400);
  assert.ok(times.length >= 7 && times.length <= 9, `logged at ${times}`);
  const pauses = times.map((time, i) => time - (times[i - 1] ?? 0));
  assert.deepEqual(
    pauses.map((pause, i) => Math.abs(pause - Math.min(10 * 2 ** i, 600)) <= 4),
    pauses.map(() => true),
    `the pauses were ${pauses}`,
  );
  assert.deepEqual(checks.run(), [
    {
      name: 'instance lock',
      isReady: false,
      note: 'a process that /proc does not show is the proxy of this network namespace; waiting until it ends',
    },
  ]);
  holder = undefined;
  const before = lines.length;
  await clock.advance(2000);
  assert.equal(lines.length, before + 1);
  const note = 'a process that the kernel does not list has the name of the instance lock; waiting until it ends';
  assert.equal(checks.run()[0]?.note, note);
  isWanted = false;
  await clock.advance(2000);
  assert.equal(await outcome, undefined);
});
