import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LiveNode } from '../../test/support/live-node.ts';
import { service, slice } from '../../test/support/objects.ts';
import { servedFromPlans } from './known-service.ts';

test('PAGE-85 the node sends only to addresses and ports of Services', async () => {
  const web = service('web', { clusterIP: '10.96.0.1', externalIPs: ['1.2.3.4'] });
  const isServed = servedFromPlans(await LiveNode.with([web, slice('web-1', [{ ip: '10.1.0.1' }])]));
  const port = web.spec.ports[0]?.port;
  for (const ip of ['10.96.0.1', '1.2.3.4']) assert.equal(await isServed(`${ip}:${port}/tcp`), true, ip);
  for (const to of [
    `10.96.0.1:${port}/udp`,
    '10.96.0.1:22/tcp',
    '10.1.0.1:8080/tcp',
    '127.0.0.1:22/tcp',
    '[fd00::1]:80/tcp',
  ]) {
    assert.equal(await isServed(to), false, to);
  }
});
