import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { RouteSocket } from '../../src/kernel/rtnetlink/index.ts';
import { type Ip, parseCidr } from '../../src/net/index.ts';
import type { KubeObject } from './objects.ts';

/** The node's addresses; the node of a playground has the same. */
export const NODE_IP = '192.168.0.2' as Ip;
export const NODE_IP6 = 'fd00:192:168::2' as Ip;

export const NODE: KubeObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-a', labels: { 'kubernetes.io/hostname': 'node-a', 'topology.kubernetes.io/zone': 'zone-a' } },
  spec: { podCIDRs: ['10.244.1.0/24', 'fd00:10:244:1::/64'], podCIDR: '10.244.1.0/24' },
  status: {
    addresses: [
      { type: 'InternalIP', address: NODE_IP },
      { type: 'InternalIP', address: NODE_IP6 },
      { type: 'Hostname', address: 'node-a' },
    ],
  },
};

/** A namespace that has the node's addresses, and a default route, without which no Service could be called from it. */
export function createNodeNamespace(): NetworkNamespace {
  const namespace = NetworkNamespace.create();
  const route = RouteSocket.open({ namespace });
  try {
    const lo = route.link('lo');
    if (!lo) throw new Error('a new network namespace has no lo');
    route.setLink(lo, { up: true });
    const eth0 = route.addLink({ kind: 'veth', name: 'eth0', peer: { name: 'eth0-peer' } });
    const peer = route.link('eth0-peer');
    if (peer) route.setLink(peer, { up: true });
    route.setLink(eth0, { up: true });
    route.addAddress(eth0, { ip: NODE_IP, prefix: 24 });
    route.addAddress(eth0, { ip: NODE_IP6, prefix: 64, nodad: true });
    for (const [network, via] of [
      ['0.0.0.0/0', '192.168.0.1'],
      ['::/0', 'fd00:192:168::1'],
    ] as const) {
      const destination = parseCidr(network);
      if (destination) route.addRoute({ destination, via: via as Ip });
    }
    return namespace;
  } catch (error) {
    namespace.close();
    throw error;
  } finally {
    route.close();
  }
}
