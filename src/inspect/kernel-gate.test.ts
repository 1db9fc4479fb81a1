import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { BusyError, KernelGate } from './kernel-gate.ts';

describe('the gate to the kernel', () => {
  test('INSPECT-6 after a burst, ten requests a second may read the kernel', async () => {
    const clock = new ManualClock();
    const gate = new KernelGate(clock);
    const run = () => gate.enter(async () => 'done');
    for (let i = 0; i < 20; i++) assert.equal(await run(), 'done');
    await assert.rejects(run(), BusyError);
    await clock.advance(100);
    assert.equal(await run(), 'done');
    await assert.rejects(run(), BusyError);
  });

  test('INSPECT-6 no work is done for a caller that has gone while it waited', async () => {
    const gate = new KernelGate();
    let hasRun = false;
    const gone = AbortSignal.abort();
    await assert.rejects(
      gate.enter(async () => {
        hasRun = true;
      }, gone),
      /the caller is gone/,
    );
    assert.equal(hasRun, false);
  });

  test('INSPECT-6 a request that takes too long fails, and the next one runs', async () => {
    const clock = new ManualClock();
    const gate = new KernelGate(clock);
    const stuck = gate.enter(() => new Promise(() => {}));
    const next = gate.enter(async () => 'next');
    stuck.catch(() => {});
    await new Promise(resolve => setImmediate(resolve));
    await clock.advance(15_000);
    await assert.rejects(stuck, /not done within 15000 ms/);
    assert.equal(await next, 'next');
  });
});
