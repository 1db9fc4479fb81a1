import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { service, slice } from '../../test/support/objects.ts';
import type { Mode } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import { DEFAULT_PLAN_SETTINGS, planName } from '../plan/index.ts';
import { type LoopListener, ProxyLoop } from './proxy-loop.ts';

const RETRY = 5000;

/** A loop whose mode and machine can be made to fail. */
class LoopUnderTest {
  readonly clock = new ManualClock();
  readonly told: string[] = [];
  readonly synced: string[] = [];
  flowsCleaned = 0;
  /** What is told of each family. */
  readonly families: string[] = [];
  fails: 'mode' | 'addresses' | Family | undefined;
  readonly loop: ProxyLoop;

  constructor(families: readonly Family[] = ['IPv4']) {
    const nothing = () => {};
    const listener: LoopListener = {
      problem: nothing,
      recovered: nothing,
      queued: family => this.families.push(`${family} queued`),
      syncStarted: nothing,
      synced: family => this.families.push(`${family} synced`),
      syncFailed: (family, { error }) => {
        this.families.push(`${family} failed`);
        this.told.push(`sync: ${error}`);
      },
      failed: (what, error) => this.told.push(`${what}: ${error}`),
    };
    const mode: Mode = {
      sync: async (family, { added, removed }) => {
        this.synced.push(...added.map(plan => `+${planName(plan)}`), ...removed.map(plan => `-${planName(plan)}`));
        if (this.fails === 'mode' || this.fails === family) throw new Error('refused');
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
        if (this.fails === 'addresses') throw new Error('interrupted');
        return [];
      },
      cleanStaleFlows: async () => ++this.flowsCleaned,
      clock: this.clock,
      listener,
    });
  }
}

test('SYNC-7 what changed is not lost when the addresses of the machine cannot be had', async () => {
  const under = new LoopUnderTest();
  under.fails = 'addresses';
  under.loop.serviceChanged({ type: 'added', to: service('default/web', {}) });
  under.loop.synced();
  await under.clock.advance(0);
  assert.deepEqual(under.told, ['sync: Error: interrupted']);
  assert.ok(under.loop.isPending);
  under.fails = undefined;
  await under.clock.advance(RETRY);
  assert.deepEqual(under.synced, ['+default/web']);
  assert.equal(under.loop.isPending, false);
  await under.loop.close();
});

test('SYNC-7 flows that became stale with a sync that failed are removed after the one that succeeds', async () => {
  const under = new LoopUnderTest();
  const udp = { ports: [{ name: '', protocol: 'UDP', port: 53 } as const] };
  under.loop.serviceChanged({ type: 'added', to: service('default/dns', udp) });
  const dns = slice('default/dns-1', ['10.244.1.1'], udp);
  under.loop.endpointSliceChanged({ type: 'added', to: dns });
  under.loop.synced();
  await under.clock.advance(0);
  const before = under.flowsCleaned;
  under.fails = 'mode';
  under.loop.endpointSliceChanged({ type: 'removed', from: dns });
  await under.clock.advance(0);
  assert.equal(under.flowsCleaned, before, 'rules still lead to the endpoint');
  under.fails = undefined;
  await under.clock.advance(RETRY);
  assert.equal(under.flowsCleaned, before + 1);
  await under.loop.close();
});

test('SYNC-5 a change is queued and written for the families that it concerns', async () => {
  const under = new LoopUnderTest(['IPv4', 'IPv6']);
  under.loop.synced();
  await under.clock.advance(0);
  assert.deepEqual(under.families.splice(0), ['IPv4 queued', 'IPv6 queued', 'IPv4 synced', 'IPv6 synced']);
  const web = service('default/web', { clusterIP: 'fd00:10:96::1' });
  under.loop.serviceChanged({ type: 'added', to: web });
  await under.clock.advance(0);
  assert.deepEqual(under.families.splice(0), ['IPv6 queued', 'IPv6 synced']);
  under.loop.serviceChanged({ type: 'updated', from: web, to: web });
  await under.clock.advance(0);
  assert.deepEqual(under.families, [], 'an update that changes nothing is no work');
  await under.loop.close();
});

test('SYNC-5 a family that fails is tried again, the other one is synced all the same', async () => {
  const under = new LoopUnderTest(['IPv4', 'IPv6']);
  under.fails = 'IPv4';
  under.loop.synced();
  await under.clock.advance(RETRY - 1);
  assert.deepEqual(under.families.splice(0), ['IPv4 queued', 'IPv6 queued', 'IPv4 failed', 'IPv6 synced']);
  under.fails = undefined;
  await under.clock.advance(1);
  assert.deepEqual(under.families, ['IPv4 synced']);
  await under.loop.close();
});

test('SYNC-6 settings that change while the proxy runs are written', async () => {
  const under = new LoopUnderTest();
  under.loop.serviceChanged({ type: 'added', to: service('default/web', {}) });
  under.loop.synced();
  await under.clock.advance(0);
  under.families.splice(0);
  const intervals = { minInterval: 0, retryInterval: 100, maxInterval: 60_000 };
  under.loop.configure({ ...under.loop.live, intervals });
  await under.clock.advance(0);
  assert.deepEqual(under.families.splice(0), ['IPv4 queued', 'IPv4 synced']);
  under.fails = 'mode';
  under.loop.request();
  await under.clock.advance(100);
  assert.deepEqual(under.families, ['IPv4 queued', 'IPv4 failed', 'IPv4 failed'], 'by the new retry interval');
  await under.loop.close();
});
