import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { service, slice } from '../../test/support/objects.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { ConntrackSocket, type Flow, L4 } from '../kernel/conntrack/index.ts';
import { NetworkNamespace } from '../kernel/netns.ts';
import { type ConfiguredMode, DEFAULT_MODE, type ModeEvents, SILENT_EVENTS } from '../modes/index.ts';
import type { Ip } from '../net/index.ts';
import { DEFAULT_PLAN_SETTINGS } from '../plan/index.ts';
import { createProxy, MASQUERADE_BIT, syncIntervals } from './proxy.ts';
import type { LoopListener } from './proxy-loop.ts';

const LIVE = {
  settings: DEFAULT_PLAN_SETTINGS,
  nodePortAddresses: [],
  masqueradeBit: MASQUERADE_BIT,
  intervals: syncIntervals(10, 50),
};

const SILENT_LOOP: LoopListener = {
  problem: () => {},
  recovered: () => {},
  queued: () => {},
  syncStarted: () => {},
  synced: () => {},
  syncFailed: () => {},
  failed: () => {},
};

test('SYNC-2 a closed proxy leaves no descriptor open', async () => {
  const namespace = NetworkNamespace.create();
  const openDescriptors = () => readdirSync('/proc/self/fd').length;
  const config = { nodeName: 'node-a', families: ['IPv4'], live: LIVE, namespace } as const;
  const listeners = { loop: SILENT_LOOP, mode: SILENT_EVENTS, staleFlowsCleaned: () => {} };
  try {
    // The first proxy also opens what the process keeps.
    await createProxy(config, listeners).close();
    const before = openDescriptors();
    await createProxy(config, listeners).close();
    await waitFor('all descriptors are closed', () => openDescriptors() <= before);
  } finally {
    namespace.close();
  }
});

test('SYNC-6 a proxy has the settings that the operator changed', async () => {
  const namespace = NetworkNamespace.create();
  const config = { nodeName: 'node-a', families: ['IPv4'], live: LIVE, namespace } as const;
  const proxy = createProxy(config, { loop: SILENT_LOOP, mode: SILENT_EVENTS, staleFlowsCleaned: () => {} });
  try {
    proxy.configure({ ...LIVE, masqueradeBit: 3 });
    assert.deepEqual([proxy.live.masqueradeBit, proxy.loop.live.masqueradeBit], [3, 3]);
  } finally {
    await proxy.close();
    namespace.close();
  }
});

test('SYNC-11 the first sync of a proxy ends attempts to connect that began before it, and later syncs do not', async () => {
  const namespace = NetworkNamespace.create();
  const conntrack = ConntrackSocket.open({ namespace });
  const client = '10.244.1.200' as Ip;
  const [ip, port] = ['10.96.0.1' as Ip, 80];
  const attempt: Flow = {
    family: 'IPv4',
    protocol: L4.TCP,
    original: { src: client, dst: ip, srcPort: 1001, dstPort: port },
    reply: { src: ip, dst: client, srcPort: port, dstPort: 1001 },
    state: 'SYN_SENT',
    timeout: 100,
  };
  const config = { nodeName: 'node-a', families: ['IPv4'], live: LIVE, namespace } as const;
  const proxy = createProxy(config, { loop: SILENT_LOOP, mode: SILENT_EVENTS, staleFlowsCleaned: () => {} });
  try {
    assert.deepEqual(await conntrack.create([attempt]), []);
    proxy.loop.serviceChanged({ type: 'added', to: service('web', { clusterIP: ip }) });
    proxy.loop.endpointSliceChanged({ type: 'added', to: slice('web-1', ['10.244.1.1']) });
    proxy.loop.synced();
    await waitFor('the attempt is gone', () => [...conntrack.dump()].length === 0);
    assert.deepEqual(await conntrack.create([attempt]), []);
    proxy.loop.endpointSliceChanged({ type: 'added', to: slice('web-2', ['10.244.1.2']) });
    await proxy.loop.settled();
    assert.equal([...conntrack.dump()].length, 1);
  } finally {
    await proxy.close();
    conntrack.close();
    namespace.close();
  }
});

test('HEALTH-3 syncs fail as long as the kernel refuses a repair, and then the proxy repairs everything', async () => {
  const namespace = NetworkNamespace.create();
  const reports: string[] = [];
  const loop: LoopListener = {
    ...SILENT_LOOP,
    synced: family => reports.push(`${family} synced`),
    syncFailed: family => reports.push(`${family} failed`),
    failed: (action, error) => assert.fail(`${action}: ${error}`),
  };
  const config = { nodeName: 'node-a', families: ['IPv4'], live: LIVE, namespace } as const;
  const proxy = createProxy(config, { loop, mode: SILENT_EVENTS, staleFlowsCleaned: () => {} });
  // Only its owner can change a table with an owner. The kernel deletes the table when the owner ends.
  const owner = namespace.run(() => spawn('nft', ['-i'], { stdio: ['pipe', 'ignore', 'ignore'] }));
  try {
    proxy.loop.serviceChanged({ type: 'added', to: service('web') });
    proxy.loop.endpointSliceChanged({ type: 'added', to: slice('web-1', ['10.244.1.1']) });
    proxy.loop.synced();
    await proxy.loop.settled();
    reports.length = 0;
    owner.stdin.write('delete table ip kube-proxy; add table ip kube-proxy { flags owner; }\n');
    await waitFor('two syncs fail', () => reports.filter(line => line === 'IPv4 failed').length > 1);
    assert.ok(!reports.includes('IPv4 synced'));
    assert.ok(proxy.loop.isPending);
    owner.stdin.end();
    await once(owner, 'exit');
    await waitFor('a sync succeeds', () => reports.at(-1) === 'IPv4 synced');
  } finally {
    owner.kill();
    await proxy.close();
    namespace.close();
  }
});

test('HEALTH-3 a failure of the mode makes the family sync again only if the failure needs that', async () => {
  const namespace = NetworkNamespace.create();
  const started: string[] = [];
  const loop: LoopListener = { ...SILENT_LOOP, syncStarted: family => started.push(family) };
  const families = ['IPv4', 'IPv6'] as const;
  let report: ModeEvents['failed'] | undefined;
  const mode: ConfiguredMode = {
    ...DEFAULT_MODE,
    create(context) {
      report = failure => context.events.failed(failure);
      return DEFAULT_MODE.create(context);
    },
  };
  const config = { nodeName: 'node-a', families, live: LIVE, namespace, mode };
  const proxy = createProxy(config, { loop, mode: SILENT_EVENTS, staleFlowsCleaned: () => {} });
  try {
    proxy.loop.synced();
    await proxy.loop.settled();
    started.length = 0;
    const error = new Error('no luck');
    report?.({ family: 'IPv4', action: 'watch', error });
    report?.({ family: 'IPv6', action: 'write', error, needsSync: true });
    await waitFor('a sync', () => started.length > 0);
    await proxy.loop.settled();
    assert.deepEqual(started, ['IPv6']);
  } finally {
    await proxy.close();
    namespace.close();
  }
});
