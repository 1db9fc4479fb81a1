import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import { service, slice } from '../../test/support/objects.ts';
import type { Mode } from '../modes/index.ts';
import { DEFAULT_PLAN_SETTINGS, planName } from '../plan/index.ts';
import { type LoopListener, ProxyLoop } from './proxy-loop.ts';

const RETRY = 5000;

/** A loop with one family, whose mode and machine can be made to fail. */
class LoopUnderTest {
  readonly clock = new ManualClock();
  readonly told: string[] = [];
  readonly synced: string[] = [];
  flowsCleaned = 0;
  fails: 'mode' | 'addresses' | undefined;
  readonly loop: ProxyLoop;

  constructor() {
    const nothing = () => {};
    const listener: LoopListener = {
      problem: nothing,
      recovered: nothing,
      queued: nothing,
      syncStarted: nothing,
      synced: nothing,
      syncFailed: (_, error) => this.told.push(`sync: ${error}`),
      failed: (what, error) => this.told.push(`${what}: ${error}`),
    };
    const mode: Mode = {
      sync: async (_, { added, removed }) => {
        this.synced.push(...added.map(plan => `+${planName(plan)}`), ...removed.map(plan => `-${planName(plan)}`));
        if (this.fails === 'mode') throw new Error('refused');
        return { full: false };
      },
      setAside: () => [],
      close: async () => {},
    };
    this.loop = new ProxyLoop({
      nodeName: 'node-a',
      families: ['IPv4'],
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
  under.loop.service({ type: 'added', object: service('default/web', {}) });
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
  under.loop.service({ type: 'added', object: service('default/dns', udp) });
  const dns = slice('default/dns-1', ['10.244.1.1'], udp);
  under.loop.endpointSlice({ type: 'added', object: dns });
  under.loop.synced();
  await under.clock.advance(0);
  const before = under.flowsCleaned;
  under.fails = 'mode';
  under.loop.endpointSlice({ type: 'removed', object: dns });
  await under.clock.advance(0);
  assert.equal(under.flowsCleaned, before, 'rules still lead to the endpoint');
  under.fails = undefined;
  await under.clock.advance(RETRY);
  assert.equal(under.flowsCleaned, before + 1);
  await under.loop.close();
});
