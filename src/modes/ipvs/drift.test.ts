import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeWriter } from '../../../test/support/fake-writer.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { modeSettingsFor, RecordedEvents } from '../../../test/support/mode-harness.ts';
import type { RouteEvent } from '../../kernel/rtnetlink/index.ts';
import type { Family, Ip } from '../../net/index.ts';
import type { ModeSettings } from '../mode.ts';
import type { PlanBook } from '../plan-book.ts';
import { ModeShell } from '../shell.ts';
import type { Drift } from '../writer.ts';
import { DRIFT_SCHEDULE, findDrift, LinkWatch } from './drift.ts';

/** A mode with the schedule of ipvs mode and a fake writer. */
class ScheduledMode extends ModeShell<FakeWriter> {
  readonly recorded: RecordedEvents;
  readonly manual: ManualClock;

  constructor() {
    const recorded = new RecordedEvents();
    const manual = new ManualClock();
    super({ events: recorded, clock: manual }, DRIFT_SCHEDULE);
    this.recorded = recorded;
    this.manual = manual;
  }

  static async start(): Promise<ScheduledMode> {
    const mode = new ScheduledMode();
    await mode.sync('IPv4', { added: [], updated: [], removed: [] }, modeSettingsFor('IPv4'));
    return mode;
  }

  get writer(): FakeWriter {
    return this.writers.get('IPv4') ?? assert.fail('no sync yet');
  }

  /** How often the shell called the writer so. */
  count(call: string): number {
    return this.writer.calls.filter(other => other.startsWith(call)).length;
  }

  async pass(seconds: number): Promise<void> {
    for (let i = 0; i < seconds; i++) await this.manual.advance(1000);
  }

  notify(drift: Drift): void {
    this.reportDrift('IPv4', drift);
  }

  protected createMetrics() {
    return () => {};
  }

  protected open(_family: Family, settings: ModeSettings, book: PlanBook): FakeWriter {
    return new FakeWriter(settings, book);
  }

  protected release(idle: Promise<void>): Promise<void> {
    return idle;
  }
}

describe('the schedule', () => {
  test('IPVS-10 the mode looks quickly every second, and thoroughly every half minute', async () => {
    const mode = await ScheduledMode.start();
    await mode.pass(61);
    assert.equal(mode.count('thorough look'), 2);
    assert.ok(mode.count('quick look') > 50);
    await mode.close();
    assert.equal(mode.manual.pending, 0);
  });

  test('IPVS-10 looks take at most a twentieth of the time', async () => {
    const mode = await ScheduledMode.start();
    let looks = 0;
    mode.writer.findDrift = look => {
      if (look === 'quick') return Promise.resolve(undefined);
      looks++;
      return new Promise(resolve => void mode.manual.setTimer(5000, () => resolve(undefined)));
    };
    await mode.pass(30 + 5 + 99);
    assert.equal(looks, 1);
    await mode.pass(2);
    assert.equal(looks, 2);
    await mode.pass(5);
    await mode.close();
  });

  test('IPVS-10 after ten repairs within a minute, only thorough looks repair', async () => {
    const mode = await ScheduledMode.start();
    mode.writer.drift = { cause: 'another program deleted a set' };
    await mode.pass(29);
    assert.deepEqual([mode.count('quick look'), mode.count('repair')], [10, 10]);
    await mode.pass(1);
    assert.deepEqual([mode.count('thorough look'), mode.count('repair')], [1, 11]);
    mode.writer.drift = undefined;
    await mode.pass(60);
    assert.ok(mode.count('quick look') > 10, 'a minute later the mode looks quickly again');
    await mode.close();
  });

  test('IPVS-10 after ten repairs within a minute, a notification waits for half a minute', async () => {
    const mode = await ScheduledMode.start();
    for (let i = 0; i < 10; i++) {
      mode.notify({ cause: 'kube-ipvs0 was deleted' });
      await mode.manual.advance(0);
    }
    assert.equal(mode.count('repair'), 10);
    mode.notify({ cause: 'kube-ipvs0 was deleted' });
    await mode.pass(29);
    assert.equal(mode.count('repair'), 10);
    await mode.pass(2);
    assert.equal(mode.count('repair'), 11);
    await mode.close();
  });
});

describe('looks', () => {
  const tables = (isCleared: boolean, drift?: string) => ({
    servers: { areCleared: () => isCleared },
    sets: { drift: () => drift },
  });

  test('IPVS-10 a quick look finds cleared virtual servers and changed sets', () => {
    assert.deepEqual(findDrift('quick', tables(true)), { cause: 'virtual servers are gone' });
    assert.deepEqual(findDrift('quick', tables(false, 'set A is gone')), { cause: 'set A is gone' });
    assert.equal(findDrift('quick', tables(false)), undefined);
    assert.equal(findDrift('quick', undefined), undefined, 'the next write reads everything anyway');
  });

  test('IPVS-10 a thorough look always compares everything, as a routine', () => {
    assert.equal(findDrift('thorough', undefined)?.isRoutine, true);
  });
});

describe('notifications of kube-ipvs0', () => {
  const LINK_EVENT = { index: 7, name: 'kube-ipvs0' };
  const deletedLink = { kind: 'link', type: 'del', link: LINK_EVENT } as RouteEvent;
  const address = (type: 'new' | 'del', ip: string) =>
    ({ kind: 'address', type, address: { ip: ip as Ip, index: 7 } }) as RouteEvent;

  function watched() {
    const clock = new ManualClock();
    const drifts: string[] = [];
    const families = new Map<Family, { needsAddress(ip: Ip): boolean }>([
      ['IPv4', { needsAddress: ip => ip === '10.96.0.1' }],
      ['IPv6', { needsAddress: ip => ip === 'fd00::1' }],
    ]);
    const watch = new LinkWatch({
      clock,
      families: () => families,
      drifted: (family, { cause }) => drifts.push(`${family}: ${cause}`),
    });
    return { clock, drifts, watch };
  }

  test('IPVS-10 deletions that come together are one report for each family', async () => {
    const { clock, drifts, watch } = watched();
    watch.changed(address('del', '10.96.0.1'));
    await clock.advance(29);
    watch.changed(deletedLink);
    assert.deepEqual(drifts, []);
    await clock.advance(1);
    assert.deepEqual(drifts, ['IPv4: kube-ipvs0 lost 10.96.0.1', 'IPv6: kube-ipvs0 was deleted']);
  });

  test('IPVS-10 the mode ignores addresses that it deletes itself, and addresses that it adds', async () => {
    const { clock, drifts, watch } = watched();
    watch.changed(address('del', '10.96.0.2'));
    watch.changed(address('new', '10.96.0.1'));
    await clock.advance(1000);
    assert.deepEqual(drifts, []);
  });

  test('IPVS-10 an address that the mode does not need sets no timer', () => {
    const { clock, watch } = watched();
    watch.changed(address('del', '10.96.0.2'));
    assert.equal(clock.pending, 0);
  });

  test('IPVS-10 each deletion that comes after a report is reported, without the earlier ones', async () => {
    const { clock, drifts, watch } = watched();
    watch.changed(address('del', '10.96.0.1'));
    await clock.advance(30);
    watch.changed(address('del', 'fd00::1'));
    await clock.advance(30);
    assert.deepEqual(drifts, ['IPv4: kube-ipvs0 lost 10.96.0.1', 'IPv6: kube-ipvs0 lost fd00::1']);
  });

  test('IPVS-10 a deletion after the watch was closed sets no timer', () => {
    const { clock, watch } = watched();
    watch.close();
    watch.changed(deletedLink);
    assert.equal(clock.pending, 0);
  });

  test('IPVS-10 a closed watch reports nothing', async () => {
    const { clock, drifts, watch } = watched();
    watch.changed(deletedLink);
    watch.close();
    watch.changed(deletedLink);
    await clock.advance(1000);
    assert.deepEqual(drifts, []);
  });
});
