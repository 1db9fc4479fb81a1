import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planOf } from '../../test/support/plans.ts';
import { NOTHING, TestMode } from '../../test/support/test-mode.ts';

const LIMITS = { atOnce: 1, windowMs: 60_000, firstPauseMs: 30_000, maxPauseMs: 30_000 };

/** Starts a sync whose write lasts until the returned function is called. */
async function startLongSync(mode: TestMode): Promise<{ readonly end: () => void; readonly ended: Promise<unknown> }> {
  let end = () => {};
  mode.writer().nextWrite = () =>
    new Promise(resolve => {
      end = () => resolve('written');
    });
  const ended = mode.start();
  await new Promise(setImmediate);
  return { end: () => end(), ended };
}

describe('MODE-2 plans', () => {
  test('a writer receives each change of the plans once', async () => {
    const mode = new TestMode();
    await mode.start('IPv4', { ...NOTHING, added: [planOf('web', [])] });
    let changed: readonly string[] | undefined;
    mode.writer().nextWrite = () => {
      changed = mode.writer().book.changedIds();
      return 'written';
    };
    await mode.start();
    assert.deepEqual(changed, []);
  });
});

describe('MODE-5 looks and repairs', () => {
  test('the shortest sync period of the families counts', async () => {
    const mode = new TestMode({ thoroughMs: 'sync-period' });
    await mode.start('IPv4', NOTHING, { syncPeriodMs: 60_000 });
    await mode.start('IPv6', NOTHING, { syncPeriodMs: 500 });
    await mode.manual.advance(500);
    assert.equal(mode.writer('IPv4').calls.at(-1), 'thorough look');
    await mode.close();
  });

  test('a pause is twenty times as long as the look before it, if the schedule says so', async () => {
    const mode = new TestMode({ quickMs: 1000, pausePerLook: 20 });
    await mode.start();
    const { calls } = mode.writer();
    mode.writer().findDrift = () =>
      new Promise(resolve => {
        calls.push('look');
        mode.manual.setTimer(100, () => resolve(undefined));
      });
    await mode.manual.advance(1100 + 1999);
    assert.deepEqual(calls.slice(1), ['look']);
    await mode.manual.advance(1);
    assert.deepEqual(calls.slice(1), ['look', 'look']);
    await mode.manual.advance(100);
    await mode.close();
  });

  test('settling waits for the repairs of all families after a notification', async () => {
    const mode = new TestMode();
    await mode.start('IPv4');
    await mode.start('IPv6');
    mode.writer('IPv4').repair = async () => {
      for (let i = 0; i < 5; i++) await new Promise(setImmediate);
      return 'wrote it again';
    };
    mode.notify({ cause: 'a flush' }, 'IPv4');
    mode.notify({ cause: 'a flush' }, 'IPv6');
    await mode.manual.advance(0);
    await mode.settle();
    assert.equal(mode.recorded.lines.length, 2);
  });

  test('the mode watches the kernel again after a repair', async () => {
    const mode = new TestMode();
    await mode.start();
    const before = mode.watched;
    mode.notify({ cause: 'a change' });
    await mode.manual.advance(0);
    assert.equal(mode.watched, before + 1);
  });

  test('MODE-6 a routine repair that wrote something counts as a repair', async () => {
    const mode = new TestMode({ repairLimits: LIMITS });
    await mode.start();
    mode.writer().drift = { cause: 'a routine', isRoutine: true };
    await mode.lookForDrift('thorough');
    await mode.lookForDrift('quick');
    assert.deepEqual(mode.writer().calls.slice(1), ['thorough look', 'repair: a routine']);
  });

  test('MODE-6 a routine repair that wrote nothing does not count as a repair', async () => {
    const mode = new TestMode({ repairLimits: LIMITS });
    await mode.start();
    mode.writer().drift = { cause: 'a routine', isRoutine: true };
    mode.writer().repairs = () => undefined;
    await mode.lookForDrift('thorough');
    await mode.lookForDrift('quick');
    assert.equal(mode.writer().calls[3], 'quick look');
  });
});

describe('MODE-7 leftovers and changes of the machine', () => {
  test('the mode writes again after each change of the machine that comes after a write', async () => {
    const mode = new TestMode();
    await mode.start();
    for (let i = 0; i < 2; i++) {
      mode.rewrite();
      await mode.manual.advance(30);
    }
    assert.deepEqual(mode.writer().calls, ['full write', 'partial write', 'partial write']);
  });

  test('a change of the machine leaves a writer that must compare everything to the next sync', async () => {
    const mode = new TestMode();
    await mode.start();
    mode.writer().isNextWriteFull = true;
    mode.rewrite();
    await mode.manual.advance(30);
    assert.deepEqual(mode.writer().calls, ['full write']);
  });

  test('if the write after a change of the machine fails, the mode asks for a sync', async () => {
    const mode = new TestMode();
    await mode.start();
    mode.writer().nextWrite = () => assert.fail('no');
    mode.rewrite();
    await mode.manual.advance(30);
    assert.deepEqual(
      mode.recorded.failures.map(({ family, needsSync }) => ({ family, needsSync })),
      [{ family: 'IPv4', needsSync: true }],
    );
  });

  test('the mode removes leftovers of each write', async () => {
    const mode = new TestMode();
    await mode.start();
    for (let i = 0; i < 2; i++) {
      mode.writer().leftoversDueMs = 10;
      await mode.start();
      await mode.manual.advance(10);
    }
    assert.equal(mode.writer().calls.filter(call => call === 'remove leftovers').length, 2);
  });

  test('the mode removes the leftovers that are due first at their time, and only in a family that has some', async () => {
    const mode = new TestMode();
    await mode.start('IPv4');
    await mode.start('IPv6');
    mode.writer('IPv6').leftoversDueMs = 10;
    await mode.start('IPv4');
    await mode.manual.advance(10);
    assert.ok(mode.writer('IPv6').calls.includes('remove leftovers'));
    assert.ok(!mode.writer('IPv4').calls.includes('remove leftovers'));
    mode.writer('IPv4').leftoversDueMs = 1000;
    mode.writer('IPv6').leftoversDueMs = 10;
    await mode.start('IPv4');
    await mode.manual.advance(10);
    assert.ok(mode.writer('IPv4').calls.includes('remove leftovers'));
  });
});

describe('MODE-7 closing', () => {
  test('a mode closes after the sync that runs, which then neither watches the kernel nor sets a timer', async () => {
    const mode = new TestMode({ quickMs: 1000 });
    await mode.start();
    const watched = mode.watched;
    mode.writer().leftoversDueMs = 10;
    const { end, ended } = await startLongSync(mode);
    const closed = mode.close();
    await new Promise(setImmediate);
    assert.deepEqual(mode.released, []);
    end();
    await Promise.all([ended, closed]);
    assert.deepEqual(mode.released, ['released']);
    assert.equal(mode.watched, watched);
    assert.equal(mode.manual.pending, 0);
  });

  test('a repair that waits for its time is not made after the mode was closed', async () => {
    const mode = new TestMode();
    await mode.start();
    mode.notify({ cause: 'a change' });
    await mode.close();
    assert.equal(mode.manual.pending, 0);
  });

  test('a repair that waits for a sync is not made after the mode was closed', async () => {
    const mode = new TestMode();
    await mode.start();
    const { end, ended } = await startLongSync(mode);
    mode.notify({ cause: 'a change' });
    await mode.manual.advance(0);
    const closed = mode.close();
    end();
    await Promise.all([ended, closed]);
    assert.deepEqual(mode.writer().calls, ['full write', 'partial write']);
  });

  test('a look ends with the family that it looks at when the mode is closed', async () => {
    const mode = new TestMode();
    await mode.start('IPv4');
    await mode.start('IPv6');
    let closed: Promise<void> | undefined;
    mode.writer('IPv4').findDrift = async () => {
      closed = mode.close();
      return undefined;
    };
    await mode.lookForDrift();
    await closed;
    assert.deepEqual(mode.writer('IPv6').calls, ['full write']);
  });
});
