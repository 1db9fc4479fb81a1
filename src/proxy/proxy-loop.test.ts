import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { service, slice } from '../../test/support/objects.ts';
import type { Mode } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import { DEFAULT_PLAN_SETTINGS, planName } from '../plan/index.ts';
import { type LoopListener, ProxyLoop, type ProxyOptions } from './proxy-loop.ts';

const RETRY = 5000;

/** A loop whose mode and machine can be made to fail. */
class LoopUnderTest {
  readonly clock = new ManualClock();
  readonly errors: string[] = [];
  readonly synced: string[] = [];
  flowsCleaned = 0;
  /** Replaces the search for stale flows. */
  cleanStaleFlows: ProxyOptions['cleanStaleFlows'] = async () => ++this.flowsCleaned;
  /** What the loop reported of each family. */
  readonly reports: string[] = [];
  /** The part that fails now. */
  failing: 'mode' | 'addresses' | Family | undefined;
  readonly loop: ProxyLoop;

  constructor(families: readonly Family[] = ['IPv4']) {
    const nothing = () => {};
    const listener: LoopListener = {
      problem: nothing,
      recovered: nothing,
      queued: family => this.reports.push(`${family} queued`),
      syncStarted: nothing,
      synced: family => this.reports.push(`${family} synced`),
      syncFailed: (family, { error }) => {
        this.reports.push(`${family} failed`);
        this.errors.push(`sync: ${error}`);
      },
      failed: (action, error) => this.errors.push(`${action}: ${error}`),
    };
    const mode: Mode = {
      sync: async (family, { added, removed }) => {
        this.synced.push(...added.map(plan => `+${planName(plan)}`), ...removed.map(plan => `-${planName(plan)}`));
        if (this.failing === 'mode' || this.failing === family) throw new Error('refused');
        return { full: false };
      },
      setAside: () => [],
      registerMetrics: () => {},
      close: async () => {},
    };
    this.loop = new ProxyLoop({
      nodeName: 'node-a',
      families,
      mode,
      settings: DEFAULT_PLAN_SETTINGS,
      nodePortAddresses: ['192.168.0.0/24'],
      masqueradeBit: 14,
      intervals: { minInterval: 0, retryInterval: RETRY, maxInterval: 60_000 },
      interfaceIPs: () => {
        if (this.failing === 'addresses') throw new Error('interrupted');
        return [];
      },
      cleanStaleFlows: (family, services) => this.cleanStaleFlows(family, services),
      clock: this.clock,
      listener,
    });
  }
}

test('SYNC-7 the loop keeps changes if it cannot read the addresses of the machine', async () => {
  const under = new LoopUnderTest();
  under.failing = 'addresses';
  under.loop.serviceChanged({ type: 'added', to: service('default/web', {}) });
  under.loop.synced();
  await under.clock.advance(0);
  assert.deepEqual(under.errors, ['sync: Error: interrupted']);
  assert.ok(under.loop.isPending);
  under.failing = undefined;
  await under.clock.advance(RETRY);
  assert.deepEqual(under.synced, ['+default/web']);
  assert.equal(under.loop.isPending, false);
  await under.loop.close();
});

test('SYNC-7 if a sync fails, the loop removes stale flows after the next sync that succeeds', async () => {
  const under = new LoopUnderTest();
  const udp = { ports: [{ name: '', protocol: 'UDP', port: 53 } as const] };
  under.loop.serviceChanged({ type: 'added', to: service('default/dns', udp) });
  const dns = slice('default/dns-1', ['10.244.1.1'], udp);
  under.loop.endpointSliceChanged({ type: 'added', to: dns });
  under.loop.synced();
  await under.clock.advance(0);
  const before = under.flowsCleaned;
  under.failing = 'mode';
  under.loop.endpointSliceChanged({ type: 'removed', from: dns });
  await under.clock.advance(0);
  assert.equal(under.flowsCleaned, before, 'the kernel still has rules for the endpoint');
  under.failing = undefined;
  await under.clock.advance(RETRY);
  assert.equal(under.flowsCleaned, before + 1);
  await under.loop.close();
});

test('SYNC-5 the loop queues and syncs only the families that a change concerns', async () => {
  const under = new LoopUnderTest(['IPv4', 'IPv6']);
  under.loop.synced();
  await under.clock.advance(0);
  assert.deepEqual(under.reports.splice(0), ['IPv4 queued', 'IPv6 queued', 'IPv4 synced', 'IPv6 synced']);
  const web = service('default/web', { clusterIP: 'fd00:10:96::1' });
  under.loop.serviceChanged({ type: 'added', to: web });
  await under.clock.advance(0);
  assert.deepEqual(under.reports.splice(0), ['IPv6 queued', 'IPv6 synced']);
  under.loop.serviceChanged({ type: 'updated', from: web, to: web });
  await under.clock.advance(0);
  assert.deepEqual(under.reports, [], 'an update that changes nothing causes no sync');
  await under.loop.close();
});

test('SYNC-5 the loop retries a family that fails, and syncs the other family meanwhile', async () => {
  const under = new LoopUnderTest(['IPv4', 'IPv6']);
  under.failing = 'IPv4';
  under.loop.synced();
  await under.clock.advance(RETRY - 1);
  assert.deepEqual(under.reports.splice(0), ['IPv4 queued', 'IPv6 queued', 'IPv4 failed', 'IPv6 synced']);
  under.failing = undefined;
  await under.clock.advance(1);
  assert.deepEqual(under.reports, ['IPv4 synced']);
  await under.loop.close();
});

test('SYNC-6 new settings cause a sync, and a new retry interval takes effect', async () => {
  const under = new LoopUnderTest();
  under.loop.serviceChanged({ type: 'added', to: service('default/web', {}) });
  under.loop.synced();
  await under.clock.advance(0);
  under.reports.splice(0);
  const intervals = { minInterval: 0, retryInterval: 100, maxInterval: 60_000 };
  under.loop.configure({ ...under.loop.live, intervals });
  await under.clock.advance(0);
  assert.deepEqual(under.reports.splice(0), ['IPv4 queued', 'IPv4 synced']);
  under.failing = 'mode';
  under.loop.request();
  await under.clock.advance(100);
  assert.deepEqual(
    under.reports,
    ['IPv4 queued', 'IPv4 failed', 'IPv4 failed'],
    'the retry comes after the new interval',
  );
  await under.loop.close();
});

/** A search for stale flows that ends when the test wants it. */
class SlowSearches {
  /** The family of each search, and how many endpoints the Services had at its start. */
  readonly started: string[] = [];
  readonly #ends: (() => void)[] = [];
  #running = 0;

  search: ProxyOptions['cleanStaleFlows'] = async (family, services) => {
    assert.equal(++this.#running, 1, 'one search at a time');
    this.started.push(
      `${family} ${[...services].flatMap(({ endpoints }) => endpoints).flatMap(port => port.endpoints).length}`,
    );
    await new Promise<void>(resolve => this.#ends.push(resolve));
    this.#running--;
    return 0;
  };

  /** Ends the searches one after another, until none is left. */
  async endAll(): Promise<void> {
    for (let end = this.#ends.shift(); end; end = this.#ends.shift()) {
      end();
      await nextTurn();
    }
  }
}

const DNS_PORTS = { ports: [{ name: '', protocol: 'UDP', port: 53 } as const] };

/** A slice of a UDP Service with this many endpoints. */
const dnsSlice = (endpoints: number) =>
  slice(
    'default/dns-1',
    Array.from({ length: endpoints }, (_, i) => `10.244.1.${i + 1}`),
    DNS_PORTS,
  );

test('SYNC-10 syncs during a search for stale flows cause one more search, which sees the last state', async () => {
  const under = new LoopUnderTest();
  const searches = new SlowSearches();
  under.cleanStaleFlows = searches.search;
  under.loop.serviceChanged({ type: 'added', to: service('default/dns', DNS_PORTS) });
  under.loop.endpointSliceChanged({ type: 'added', to: dnsSlice(101) });
  under.loop.synced();
  await under.clock.advance(0);
  under.reports.splice(0);
  for (let left = 100; left > 0; left--) {
    under.loop.endpointSliceChanged({ type: 'updated', from: dnsSlice(left + 1), to: dnsSlice(left) });
    await under.clock.advance(0);
  }
  assert.equal(under.reports.filter(report => report === 'IPv4 synced').length, 100, 'no sync waits for a search');
  await searches.endAll();
  assert.deepEqual(searches.started, ['IPv4 101', 'IPv4 1']);
  await under.loop.close();
});

test('SYNC-10 a search of each family can wait, and a search that fails does not stop the others', async () => {
  const under = new LoopUnderTest(['IPv4', 'IPv6']);
  const searches = new SlowSearches();
  under.cleanStaleFlows = async (family, services) => {
    await searches.search(family, services);
    if (searches.started.length === 1) throw new Error('interrupted');
    return 0;
  };
  const dns6 = service('default/dns6', { ...DNS_PORTS, clusterIP: 'fd00:10:96::1' });
  under.loop.serviceChanged({ type: 'added', to: service('default/dns', DNS_PORTS) });
  under.loop.serviceChanged({ type: 'added', to: dns6 });
  under.loop.endpointSliceChanged({ type: 'added', to: dnsSlice(1) });
  const slice6 = (ip: string) => slice('default/dns6-1', [ip], DNS_PORTS);
  under.loop.endpointSliceChanged({ type: 'added', to: slice6('fd00:10:244::1') });
  under.loop.synced();
  await under.clock.advance(0);
  for (let i = 1; i < 4; i++) {
    const change = { from: slice6(`fd00:10:244::${i}`), to: slice6(`fd00:10:244::${i + 1}`) };
    under.loop.endpointSliceChanged({ type: 'updated', ...change });
    under.loop.endpointSliceChanged({ type: 'updated', from: dnsSlice(i), to: dnsSlice(i + 1) });
    await under.clock.advance(0);
  }
  let isSettled = false;
  const settled = under.loop.settled().then(() => {
    isSettled = true;
  });
  await nextTurn();
  assert.equal(isSettled, false, 'a search still runs');
  await searches.endAll();
  assert.deepEqual(searches.started.map(text => text.slice(0, 4)).toSorted(), ['IPv4', 'IPv4', 'IPv6']);
  assert.deepEqual(under.errors, ['remove stale flows: Error: interrupted']);
  await settled;
  await under.loop.close();
});
