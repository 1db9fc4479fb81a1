import assert from 'node:assert/strict';
import type { DriftSchedule } from '../../src/modes/drift-loop.ts';
import type { MeasureObserver, ModeSettings } from '../../src/modes/mode.ts';
import type { PlanBook } from '../../src/modes/plan-book.ts';
import { ModeShell } from '../../src/modes/shell.ts';
import type { Drift } from '../../src/modes/writer.ts';
import type { Family } from '../../src/net/index.ts';
import type { MetricSet } from '../../src/observe/metrics/index.ts';
import type { PlanDiff } from '../../src/plan/index.ts';
import { FakeWriter } from './fake-writer.ts';
import { ManualClock } from './manual-clock.ts';
import { modeSettingsFor, RecordedEvents } from './mode-harness.ts';

export const NOTHING: PlanDiff = { added: [], updated: [], removed: [] };

/** A mode with fake writers. */
export class TestMode extends ModeShell<FakeWriter> {
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
