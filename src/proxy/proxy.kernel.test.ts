import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { service, slice } from '../../test/support/objects.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { NetworkNamespace } from '../kernel/netns.ts';
import { SILENT_EVENTS } from '../modes/index.ts';
import { DEFAULT_PLAN_SETTINGS } from '../plan/index.ts';
import { createProxy, MASQUERADE_BIT, syncIntervals } from './proxy.ts';
import type { LoopListener } from './proxy-loop.ts';

test('HEALTH-3 as long as the kernel refuses a repair, syncs fail; then all is written again', async () => {
  const namespace = NetworkNamespace.create();
  const told: string[] = [];
  const loop: LoopListener = {
    problem: () => {},
    recovered: () => {},
    queued: () => {},
    syncStarted: () => {},
    synced: family => told.push(`${family} synced`),
    syncFailed: family => told.push(`${family} failed`),
    failed: (what, error) => assert.fail(`${what}: ${error}`),
  };
  const live = {
    settings: DEFAULT_PLAN_SETTINGS,
    nodePortAddresses: [],
    masqueradeBit: MASQUERADE_BIT,
    intervals: syncIntervals(10, 50),
  };
  const config = { nodeName: 'node-a', families: ['IPv4'], live, namespace } as const;
  const proxy = createProxy(config, { loop, mode: SILENT_EVENTS, staleFlowsCleaned: () => {} });
  // A table that has an owner is nobody else's, and goes with it.
  const owner = namespace.run(() => spawn('nft', ['-i'], { stdio: ['pipe', 'ignore', 'ignore'] }));
  try {
    proxy.loop.serviceChanged({ type: 'added', to: service('web') });
    proxy.loop.endpointSliceChanged({ type: 'added', to: slice('web-1', ['10.244.1.1']) });
    proxy.loop.synced();
    await proxy.loop.settled();
    told.length = 0;
    owner.stdin.write('delete table ip kube-proxy; add table ip kube-proxy { flags owner; }\n');
    await waitFor('two syncs fail', () => told.filter(line => line === 'IPv4 failed').length > 1);
    assert.ok(!told.includes('IPv4 synced'));
    assert.ok(proxy.loop.isPending);
    owner.stdin.end();
    await once(owner, 'exit');
    await waitFor('a sync succeeds', () => told.at(-1) === 'IPv4 synced');
  } finally {
    owner.kill();
    await proxy.close();
    namespace.close();
  }
});
