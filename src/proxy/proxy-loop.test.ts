import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoopUnderTest, RETRY } from '../../test/support/loop-under-test.ts';
import { service, slice } from '../../test/support/objects.ts';

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
