import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoopUnderTest, RETRY } from '../../test/support/loop-under-test.ts';
import { node, service, slice } from '../../test/support/objects.ts';
import type { ServiceCIDR } from '../api/index.ts';
import { SyncError } from '../modes/index.ts';
import type { Family } from '../net/index.ts';

const UDP = { ports: [{ name: '', protocol: 'UDP', port: 53 } as const] };
const DNS = slice('default/dns-1', ['10.244.1.1'], UDP);
const ZONE = 'topology.kubernetes.io/zone';

/** A loop whose first sync has ended. */
async function startedLoop(families?: readonly Family[]): Promise<LoopUnderTest> {
  const under = new LoopUnderTest(families);
  under.loop.serviceChanged({ type: 'added', to: service('default/dns', UDP) });
  under.loop.endpointSliceChanged({ type: 'added', to: DNS });
  under.loop.synced();
  await under.clock.advance(0);
  under.reports.splice(0);
  under.settings.splice(0);
  return under;
}

test('SYNC-5 the loop queues nothing before the source has delivered all objects', async () => {
  const under = new LoopUnderTest();
  under.loop.serviceChanged({ type: 'added', to: service('default/web', {}) });
  await under.clock.advance(0);
  assert.deepEqual(under.reports, []);
  await under.loop.close();
});

test('SYNC-5 the loop reports a failed sync once', async () => {
  const under = new LoopUnderTest();
  under.failing = 'mode';
  under.loop.synced();
  await under.clock.advance(0);
  assert.deepEqual(under.errors, ['sync: Error: refused']);
  await under.loop.close();
});

test('SYNC-5 a failed sync counts as full, unless the mode says that it was not', async () => {
  const under = await startedLoop();
  under.failing = 'mode';
  under.loop.request();
  await under.clock.advance(0);
  under.error = new SyncError(false, new Error('refused'));
  await under.clock.advance(RETRY);
  assert.deepEqual(
    under.failures.map(({ full }) => full),
    [true, false],
  );
  await under.loop.close();
});

test('SYNC-5 after a failure to read the addresses the loop retries only the families that need it', async () => {
  const under = await startedLoop(['IPv4', 'IPv6']);
  under.failing = 'addresses';
  under.loop.request(['IPv4']);
  await under.clock.advance(0);
  assert.deepEqual(under.reports.splice(0), ['IPv4 queued']);
  under.failing = undefined;
  await under.clock.advance(RETRY);
  assert.deepEqual(under.reports, ['IPv4 synced']);
  await under.loop.close();
});

test('SYNC-9 the periodic sync writes all families', async () => {
  const under = await startedLoop(['IPv4', 'IPv6']);
  await under.clock.advance(60_000);
  assert.deepEqual(under.reports, ['IPv4 synced', 'IPv6 synced']);
  await under.loop.close();
});

test('SYNC-2 a closed loop has no timer, and closes the mode last', async () => {
  const under = await startedLoop();
  let end = () => {};
  under.cleanStaleFlows = () =>
    new Promise(resolve => {
      end = () => resolve(1);
    });
  under.loop.endpointSliceChanged({ type: 'removed', from: DNS });
  await under.clock.advance(0);
  const closed = under.loop.close();
  await new Promise(setImmediate);
  assert.equal(under.clock.pending, 0);
  assert.equal(under.isModeClosed, false, 'the search for stale flows still runs');
  end();
  await closed;
  assert.equal(under.isModeClosed, true);
});

test('SYNC-5 the loop is settled when it has written the changes that came during a sync too', async () => {
  const under = await startedLoop();
  let syncs = 0;
  under.duringSync = async () => {
    if (++syncs === 1) under.loop.request();
  };
  under.loop.request();
  let syncsWhenSettled = 0;
  const settled = under.loop.settled().then(() => {
    syncsWhenSettled = syncs;
  });
  await under.clock.advance(1);
  await settled;
  assert.equal(syncsWhenSettled, 2);
  await under.loop.close();
});

test('SYNC-6 a mode receives the sync period', async () => {
  const under = await startedLoop();
  under.loop.request();
  await under.clock.advance(0);
  assert.deepEqual(
    under.settings.map(({ syncPeriodMs }) => syncPeriodMs),
    [RETRY],
  );
  await under.loop.close();
});

test('SYNC-6 new settings change the plan options', async () => {
  const under = await startedLoop();
  const { settings } = under.loop.live;
  under.loop.configure({ ...under.loop.live, settings: { ...settings, masqueradeAll: true } });
  assert.equal(under.loop.state.nodeOptions.families.IPv4.masqueradeAll, true);
  await under.loop.close();
});

test('SYNC-3 a change of the Node causes a sync only if plans depend on it', async () => {
  const under = await startedLoop();
  const relabel = async (labels: Record<string, string>) => {
    under.loop.nodeChanged({ type: 'added', to: node('node-a', { labels }) });
    await under.clock.advance(0);
    return under.reports.splice(0);
  };
  assert.deepEqual(await relabel({ [ZONE]: 'zone-a' }), ['IPv4 queued', 'IPv4 synced']);
  assert.deepEqual(await relabel({ [ZONE]: 'zone-a', other: 'label' }), []);
  await under.loop.close();
});

test('SYNC-3 a new service range causes a sync', async () => {
  const under = await startedLoop();
  const metadata = { name: 'more', namespace: '', labels: {}, annotations: {} };
  const to: ServiceCIDR = { kind: 'ServiceCIDR', metadata, cidrs: ['10.112.0.0/16'] };
  under.loop.serviceCidrChanged({ type: 'added', to });
  await under.clock.advance(0);
  assert.deepEqual(
    under.settings.map(({ serviceCIDRs }) => serviceCIDRs),
    [['10.112.0.0/16']],
  );
  await under.loop.close();
});

test('SYNC-7 the loop searches for stale flows only if a change can have left some', async () => {
  const under = await startedLoop();
  const before = under.flowsCleaned;
  under.loop.request();
  await under.clock.advance(0);
  assert.equal(under.flowsCleaned, before);
  await under.loop.close();
});

test('SYNC-7 the loop reports that it could not remove stale flows, and goes on', async () => {
  const under = await startedLoop();
  under.cleanStaleFlows = () => Promise.reject(new Error('no memory'));
  under.loop.endpointSliceChanged({ type: 'removed', from: DNS });
  await under.clock.advance(0);
  assert.deepEqual(under.errors, ['remove stale flows: Error: no memory']);
  under.loop.request();
  await under.clock.advance(1);
  assert.equal(under.reports.at(-1), 'IPv4 synced');
  await under.loop.close();
});
