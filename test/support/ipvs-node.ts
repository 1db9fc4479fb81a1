import assert from 'node:assert/strict';
import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { RouteSocket } from '../../src/kernel/rtnetlink/index.ts';
import { parseCidr, parseIp } from '../../src/net/index.ts';

/** A network with the addresses of the node that cases are about, and nobody else in it. */
export function nodeNamespace(): NetworkNamespace {
  const namespace = NetworkNamespace.create();
  const route = RouteSocket.open({ namespace });
  try {
    route.setLink({ index: 1, name: 'lo' }, { up: true });
    const eth0 = route.addLink({ kind: 'veth', name: 'eth0', peer: { name: 'eth0p' } });
    const peer = route.link('eth0p') ?? assert.fail('no peer');
    route.addAddress(eth0, { ip: parseIp('192.168.0.2') ?? assert.fail(), prefix: 24 });
    route.addAddress(eth0, { ip: parseIp('fd00:192:168::2') ?? assert.fail(), prefix: 64, nodad: true });
    route.setLink(eth0, { up: true });
    route.setLink(peer, { up: true });
    const via = parseIp('192.168.0.1') ?? assert.fail();
    route.addRoute({ destination: parseCidr('0.0.0.0/0') ?? assert.fail(), via, dev: eth0 });
    return namespace;
  } finally {
    route.close();
  }
}
