import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../lib/clock.ts';
import { StepTimer } from './step-timer.ts';
import type { WatchedPort } from './watched-port.ts';

test('BALANCE-61 a timer that fires too early does not put a step off', () => {
  let now = 0;
  const timers: { readonly ms: number; readonly work: () => void }[] = [];
  const clock = {
    elapsed: () => now,
    setTimer(ms: number, work: () => void) {
      timers.push({ ms, work });
      return { cancel() {} };
    },
  } as unknown as Clock;
  const port = { nextStep: () => 1000, takeReturns: () => [], takeStep: () => now >= 1000 } as unknown as WatchedPort;
  let changes = 0;
  const steps = new StepTimer({ clock, ports: () => [port], sharesChanged: () => changes++, returned: () => {} });
  steps.update();
  // Node takes the beginning of the event loop's turn as the start, so a long turn makes a timer fire early.
  now = 960;
  timers.pop()?.work();
  assert.deepEqual([changes, timers.pop()?.ms], [0, 40]);
});
