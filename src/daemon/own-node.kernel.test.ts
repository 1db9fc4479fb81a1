import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { NetworkNamespace } from '../kernel/netns.ts';
import { RouteSocket } from '../kernel/rtnetlink/index.ts';
import type { Ip } from '../net/index.ts';
import { localNode } from './own-node.ts';

test('START-12 this machine as a Node has its global addresses as internal addresses, and its host name', () => {
  const namespace = NetworkNamespace.create();
  const route = RouteSocket.open({ namespace });
  try {
    const lo = route.link('lo');
    assert.ok(lo);
    route.setLink(lo, { up: true });
    route.addAddress(lo, { ip: '192.168.0.2' as Ip, prefix: 24 });
    route.addAddress(lo, { ip: 'fd00:192:168::2' as Ip, prefix: 64, nodad: true });
    const { metadata, addresses } = namespace.run(() => localNode('node-a'));
    assert.equal(metadata.name, 'node-a');
    assert.deepEqual(addresses, [
      { type: 'InternalIP', address: '192.168.0.2' },
      { type: 'InternalIP', address: 'fd00:192:168::2' },
      { type: 'Hostname', address: hostname() },
    ]);
  } finally {
    route.close();
    namespace.close();
  }
});
