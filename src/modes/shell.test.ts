import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeWriter } from '../../test/support/fake-writer.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { modeSettingsFor, RecordedEvents } from '../../test/support/mode-harness.ts';
import { planOf } from '../../test/support/plans.ts';
import type { Family } from '../net/index.ts';
import { MetricSet } from '../observe/metrics/index.ts';
import type { PlanDiff } from '../plan/index.ts';
import type { DriftSchedule } from './drift-loop.ts';
import { type MeasureObserver, type ModeSettings, SyncError } from './mode.ts';
import type { PlanBook } from './plan-book.ts';
import { setAsideName } from './set-aside.ts';
import { ModeShell } from './shell.ts';
import type { Drift } from './writer.ts';

const NOTHING: PlanDiff = { added: [], updated: [], removed: [] };
const CAUSE = { code: 'KERNEL_REFUSED', message: 'no' } as const;

/** A mode with fake writers. */
class TestMode extends ModeShell<FakeWriter> {
  readonly recorded: RecordedEvents;
  readonly manual: ManualClock;
  readonly released: string[] = [];
  /** Thrown when a family is opened. */
  openError: Error | undefined;
  /** Thrown by the first write of a family that is opened. */
  writeError: Error | undefined;
  /** Thrown when the mode watches the kernel after a write. */
  watchError: Error | undefined;
  /** How often the mode began to watch the kernel. */
  watched = 0;

  constructor(schedule: DriftSchedule = {}) {
    const recorded = new RecordedEvents();
    const manual = new ManualClock();
    super({ events: recorded, clock: manual }, schedule);
    this.recorded = recorded;
    this.manual = manual;
  }

  writer(family: Family = 'IPv4'): FakeWriter {
    return this.writers.get(family) ?? assert.fail(`${family} is not open`);
  }

  start(family: Family = 'IPv4', plans = NOTHING, settings: Partial<ModeSettings> = {}) {
    return this.sync(family, plans, modeSettingsFor(family, settings));
  }

  notify(drift: Drift, family: Family = 'IPv4'): void {
    this.reportDrift(family, drift);
  }

  rewrite(): void {
    this.writeSoon();
  }

  protected createMetrics(set: MetricSet): MeasureObserver {
    const refusals = set.counter('test_refusals_total', ['full'], 'Refusals.');
    return (_family, measure) => {
      if (measure.kind === 'refused') refusals.inc({ full: String(measure.full) });
    };
  }

  protected open(_family: Family, settings: ModeSettings, book: PlanBook): FakeWriter {
    if (this.openError) throw this.openError;
    const writer = new FakeWriter(settings, book);
    const { writeError } = this;
    if (writeError) writer.nextWrite = () => Promise.reject(writeError);
    return writer;
  }

  protected override afterWrite(): void {
    this.watched++;
    if (this.watchError) throw this.watchError;
  }

  protected async release(idle: Promise<void>): Promise<void> {
    await idle;
    this.released.push('released');
  }
}

describe('MODE-2 syncs', () => {
  test('the first sync of a family is a full one, the next a partial one', async () => {
    const mode = new TestMode();
    assert.deepEqual(await mode.start(), { full: true });
    assert.deepEqual(await mode.start(), { full: false });
    assert.deepEqual(await mode.start('IPv6'), { full: true });
    assert.deepEqual(mode.writer().calls, ['full write', 'partial write']);
  });

  test('a partial write that the kernel refuses is followed by a full one', async () => {
    const mode = new TestMode();
    await mode.start();
    const writer = mode.writer();
    writer.nextWrite = () => {
      writer.isNextWriteFull = true;
      return 'needs-full-write';
    };
    assert.deepEqual(await mode.start(), { full: true });
    assert.deepEqual(writer.calls, ['full write', 'partial write', 'full write']);
  });

  test('a sync fails if a full write asks for another full write', async () => {
    const mode = new TestMode();
    await mode.start();
    const writer = mode.writer();
    writer.isNextWriteFull = true;
    writer.nextWrite = () => 'needs-full-write';
    await assert.rejects(mode.start(), (error: SyncError) => error instanceof SyncError && error.full);
  });

  for (const full of [true, false]) {
    test(`a ${full ? 'full' : 'partial'} sync that fails throws a SyncError, and is measured as refused`, async () => {
      const mode = new TestMode();
      const set = new MetricSet();
      mode.registerMetrics(set);
      await mode.start();
      const writer = mode.writer();
      writer.isNextWriteFull = full;
      writer.nextWrite = () => assert.fail('no');
      await assert.rejects(mode.start(), (error: SyncError) => {
        assert.deepEqual([error.name, error.full, error.message], ['SyncError', full, 'no']);
        return true;
      });
      assert.deepEqual(mode.recorded.measures, [{ kind: 'refused', full }]);
      assert.match(await set.text(), new RegExp(`test_refusals_total\\{full="${full}"\\} 1`));
    });
  }

  test('if a sync fails before a writer has its plans, the next sync writes them', async () => {
    const mode = new TestMode();
    mode.openError = new Error('no socket');
    const [web, api] = [planOf('web', []), planOf('api', [])];
    await assert.rejects(mode.start('IPv4', { ...NOTHING, added: [web] }), (error: SyncError) => error.full);
    mode.openError = undefined;
    await mode.start('IPv4', { ...NOTHING, added: [api] });
    assert.deepEqual([...mode.writer().book.committedPlans().values()], [web, api]);
    assert.deepEqual(mode.writer().calls, ['full write']);
  });

  test('the shell runs one sync at a time', async () => {
    const mode = new TestMode();
    await mode.start();
    let end = () => {};
    mode.writer().nextWrite = () =>
      new Promise(resolve => {
        end = () => resolve('written');
      });
    const [first, second] = [mode.start(), mode.start()];
    await new Promise(setImmediate);
    assert.deepEqual(mode.writer().calls, ['full write', 'partial write']);
    end();
    await Promise.all([first, second]);
    assert.deepEqual(mode.writer().calls, ['full write', 'partial write', 'partial write']);
  });

  test('the mode reports and lists a service port that the plan book sets aside', async () => {
    const mode = new TestMode();
    await mode.start('IPv4', { ...NOTHING, added: [planOf('web', [])] });
    assert.deepEqual(mode.setAside(), []);
    mode.writer().book.postpone('default/web/TCP', CAUSE);
    assert.deepEqual(mode.setAside().map(setAsideName), ['default/web']);
    assert.deepEqual(mode.recorded.setAsideLines, ['default/web KERNEL_REFUSED']);
  });
});

describe('MODE-5 drift', () => {
  const schedule = { quickMs: 1000, thoroughMs: 'sync-period' } as const;

  test('after the first write the mode looks for drift as often as its schedule says', async () => {
    const mode = new TestMode(schedule);
    assert.equal(mode.manual.pending, 0);
    await mode.start('IPv4', NOTHING, { syncPeriodMs: 2500 });
    await mode.manual.advance(2500);
    assert.deepEqual(mode.writer().calls.slice(1), ['quick look', 'quick look', 'thorough look']);
    await mode.close();
    assert.equal(mode.manual.pending, 0);
  });

  test('the mode does not look for drift in a family that it has not written yet', async () => {
    const mode = new TestMode(schedule);
    mode.writeError = new Error('the lock is held');
    await assert.rejects(mode.start('IPv6'), /the lock is held/);
    mode.writeError = undefined;
    await mode.start('IPv4');
    mode.writer('IPv6').drift = { cause: 'no canary' };
    await mode.manual.advance(30_000);
    assert.deepEqual(mode.writer('IPv6').calls, ['full write']);
    await mode.start('IPv6');
    await mode.manual.advance(1000);
    assert.equal(mode.writer('IPv6').calls.at(-1), 'repair: no canary');
    await mode.close();
  });

  test('a new sync period takes effect at once', async () => {
    const mode = new TestMode(schedule);
    await mode.start('IPv4', NOTHING, { syncPeriodMs: 60_000 });
    await mode.start('IPv4', NOTHING, { syncPeriodMs: 500 });
    await mode.manual.advance(500);
    assert.deepEqual(mode.writer().calls.slice(2), ['thorough look']);
    await mode.close();
  });

  test('the mode repairs and reports drift that a look finds', async () => {
    const mode = new TestMode(schedule);
    await mode.start();
    mode.writer().drift = { cause: 'nft deleted a chain' };
    await mode.lookForDrift();
    assert.deepEqual(mode.writer().calls.slice(1), ['thorough look', 'repair: nft deleted a chain']);
    assert.deepEqual(mode.recorded.lines, ['repaired: nft deleted a chain; wrote it again']);
    await mode.close();
  });

  test('the mode does not report a repair that finds no difference', async () => {
    const mode = new TestMode(schedule);
    await mode.start();
    mode.writer().drift = { cause: 'a routine', isRoutine: true };
    mode.writer().repairs = () => undefined;
    await mode.lookForDrift();
    assert.deepEqual(mode.recorded.lines, []);
    await mode.close();
  });

  test('the mode reports a failed repair, asks for a sync, and repeats the repair without a new look', async () => {
    const mode = new TestMode(schedule);
    await mode.start();
    mode.writer().drift = { cause: 'a flush' };
    mode.writer().repairs = () => assert.fail('busy');
    await mode.lookForDrift();
    assert.deepEqual(
      mode.recorded.failures.map(({ family, needsSync }) => ({ family, needsSync })),
      [{ family: 'IPv4', needsSync: true }],
    );
    assert.match(mode.recorded.lines.join(), /^failed to repair the IPv4 rules: .*busy$/);
    mode.writer().drift = undefined;
    mode.writer().repairs = () => 'wrote it again';
    await mode.lookForDrift();
    assert.deepEqual(mode.writer().calls.slice(1), ['thorough look', 'repair: a flush', 'repair: a flush']);
    assert.equal(mode.recorded.lines.at(-1), 'repaired: a flush; wrote it again');
    await mode.close();
  });

  test('quick looks leave a failed repair to the next sync or thorough look', async () => {
    const mode = new TestMode(schedule);
    await mode.start();
    const writer = mode.writer();
    writer.drift = { cause: 'a flush' };
    writer.repairs = () => {
      writer.isNextWriteFull = true;
      return assert.fail('busy');
    };
    await mode.lookForDrift('thorough');
    for (let i = 0; i < 3; i++) await mode.lookForDrift('quick');
    assert.equal(mode.recorded.lines.length, 1, 'one failure');
    await mode.lookForDrift('thorough');
    assert.equal(mode.recorded.lines.length, 2);
    await mode.close();
  });

  test('the mode repairs at once after notifications, and makes one repair for several of them', async () => {
    const mode = new TestMode();
    await mode.start();
    mode.notify({ cause: 'first', parts: new Set(['a']) });
    mode.notify({ cause: 'second', parts: new Set(['b']) });
    await mode.manual.advance(0);
    assert.deepEqual(mode.writer().calls.slice(1), ['repair: first (a,b)']);
    mode.notify({ cause: 'third', parts: new Set(['a']) });
    mode.notify({ cause: 'fourth' });
    await mode.manual.advance(0);
    assert.equal(mode.writer().calls.at(-1), 'repair: third', 'without parts the repair covers everything');
  });

  test('settling waits for the looks that run, and for their repairs', async () => {
    const mode = new TestMode(schedule);
    await mode.start();
    mode.writer().findDrift = async () => {
      for (let i = 0; i < 5; i++) await new Promise(setImmediate);
      return { cause: 'a flush' };
    };
    await mode.manual.advance(1000);
    await mode.settle();
    assert.deepEqual(mode.recorded.lines, ['repaired: a flush; wrote it again']);
    await mode.close();
  });

  test('the mode retries a failed repair after a pause', async () => {
    const mode = new TestMode();
    await mode.start();
    mode.writer().repairs = () => assert.fail('busy');
    mode.notify({ cause: 'a change' });
    await mode.manual.advance(0);
    mode.writer().repairs = () => 'wrote it again';
    await mode.manual.advance(999);
    assert.equal(mode.writer().calls.length, 2);
    await mode.manual.advance(1);
    assert.equal(mode.recorded.lines.at(-1), 'repaired: a change; wrote it again');
  });

  test('MODE-6 the mode waits longer before each repair if another program undoes them again and again', async () => {
    const mode = new TestMode();
    await mode.start();
    for (let i = 0; i < 10; i++) {
      mode.notify({ cause: `change ${i}` });
      await mode.manual.advance(0);
    }
    assert.equal(mode.recorded.lines.length, 10);
    mode.notify({ cause: 'change 11' });
    await mode.manual.advance(999);
    assert.equal(mode.recorded.lines.length, 10);
    await mode.manual.advance(1);
    assert.equal(mode.recorded.lines.length, 11);
  });

  test('MODE-6 notifications during a pause do not make the next pause longer', async () => {
    const mode = new TestMode();
    await mode.start();
    for (let i = 0; i < 10; i++) {
      mode.notify({ cause: `change ${i}` });
      await mode.manual.advance(0);
    }
    for (const pause of [1000, 2000, 4000]) {
      const before = mode.recorded.lines.length;
      for (let i = 0; i < 8; i++) mode.notify({ cause: 'another change' });
      await mode.manual.advance(pause - 1);
      assert.equal(mode.recorded.lines.length, before);
      await mode.manual.advance(1);
      assert.equal(mode.recorded.lines.length, before + 1, `after a pause of ${pause} ms`);
    }
  });

  test('MODE-6 the repairs of both families after one notification count as one', async () => {
    const mode = new TestMode();
    await mode.start();
    await mode.start('IPv6');
    for (let i = 0; i < 10; i++) {
      mode.notify({ cause: `change ${i}` });
      mode.notify({ cause: `change ${i}` }, 'IPv6');
      await mode.manual.advance(0);
    }
    assert.equal(mode.recorded.lines.length, 20);
  });

  test('MODE-6 after too many repairs the mode makes no quick looks, but still makes thorough looks', async () => {
    const repairLimits = { atOnce: 1, windowMs: 60_000, firstPauseMs: 30_000, maxPauseMs: 30_000 };
    const mode = new TestMode({ ...schedule, repairLimits });
    await mode.start();
    mode.writer().drift = { cause: 'a change' };
    await mode.lookForDrift('quick');
    await mode.lookForDrift('quick');
    await mode.lookForDrift('thorough');
    assert.deepEqual(mode.writer().calls.slice(1), [
      'quick look',
      'repair: a change',
      'thorough look',
      'repair: a change',
    ]);
    await mode.close();
  });
});

describe('MODE-7 leftovers and changes of the machine', () => {
  test('the mode removes leftovers when they are due', async () => {
    const mode = new TestMode();
    await mode.start();
    mode.writer().leftoversDueMs = 1100;
    await mode.start();
    await mode.manual.advance(1099);
    assert.ok(!mode.writer().calls.includes('remove leftovers'));
    await mode.manual.advance(1);
    assert.equal(mode.writer().calls.at(-1), 'remove leftovers');
    assert.equal(mode.manual.pending, 0);
  });

  test('if the removal of leftovers fails, the mode reports it and keeps them until the next write', async () => {
    const mode = new TestMode();
    await mode.start();
    const writer = mode.writer();
    writer.leftoversDueMs = 10;
    writer.removeLeftovers = () => Promise.reject(new Error('busy'));
    await mode.start();
    await mode.manual.advance(10);
    assert.deepEqual(mode.recorded.lines, ['failed to remove IPv4 leftovers: Error: busy']);
    assert.deepEqual(mode.recorded.measures, [{ kind: 'cleanup-failed' }]);
    assert.equal(mode.manual.pending, 0);
  });

  test('the mode watches the kernel again even if the removal of leftovers failed', async () => {
    const mode = new TestMode();
    await mode.start();
    mode.writer().leftoversDueMs = 10;
    mode.writer().removeLeftovers = () => Promise.reject(new Error('busy'));
    await mode.start();
    const before = mode.watched;
    await mode.manual.advance(10);
    await mode.close();
    assert.equal(mode.watched, before + 1);
  });

  test('if watching fails after the removal of leftovers, the mode reports it and asks for a sync', async () => {
    const mode = new TestMode();
    await mode.start();
    mode.writer().leftoversDueMs = 10;
    await mode.start();
    mode.watchError = new Error('too many open files');
    await mode.manual.advance(10);
    await mode.close();
    const failure = { family: 'IPv4', action: 'watch the IPv4 rules', error: mode.watchError, needsSync: true };
    assert.deepEqual(mode.recorded.failures, [failure]);
  });

  test('several changes of the machine cause one write', async () => {
    const mode = new TestMode();
    mode.rewrite();
    assert.equal(mode.manual.pending, 0, 'no family is open');
    await mode.start();
    mode.rewrite();
    mode.rewrite();
    await mode.manual.advance(30);
    assert.deepEqual(mode.writer().calls, ['full write', 'partial write']);
  });

  test('the mode reports a failed write after a change of the machine', async () => {
    const mode = new TestMode();
    await mode.start();
    mode.writer().nextWrite = () => assert.fail('no');
    mode.rewrite();
    await mode.manual.advance(30);
    assert.match(mode.recorded.lines.join(), /^failed to write the IPv4 rules again: SyncError: no$/);
  });

  test('a mode closes once, after its current work, and then has no timers', async () => {
    const mode = new TestMode({ quickMs: 10, thoroughMs: 10 });
    await mode.start();
    mode.writer().leftoversDueMs = 10;
    mode.rewrite();
    await mode.start();
    await Promise.all([mode.close(), mode.close()]);
    assert.deepEqual(mode.released, ['released']);
    assert.equal(mode.manual.pending, 0);
    mode.notify({ cause: 'too late' });
    assert.equal(mode.manual.pending, 0);
  });
});
