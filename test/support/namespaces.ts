import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { RouteSocket } from '../../src/kernel/rtnetlink/index.ts';
import { type Family, type Ip, parseCidr } from '../../src/net/index.ts';

/** The addresses of the node in tests. The node of the playground has the same. */
export const NODE_IP = '192.168.0.2' as Ip;
export const NODE_IP6 = 'fd00:192:168::2' as Ip;

const GATEWAYS: Readonly<Record<Family, { readonly network: string; readonly ip: Ip }>> = {
  IPv4: { network: '0.0.0.0/0', ip: '192.168.0.1' as Ip },
  IPv6: { network: '::/0', ip: 'fd00:192:168::1' as Ip },
};

/** Runs the work with a network namespace of its own, and closes the namespace also if the work fails. */
export async function withNamespace<T>(work: (namespace: NetworkNamespace) => T | Promise<T>): Promise<T> {
  const namespace = NetworkNamespace.create();
  try {
    return await work(namespace);
  } finally {
    namespace.close();
  }
}

/** Runs the work with a socket for links, addresses and routes of the namespace, and closes the socket afterwards. */
export function withRoutes<T>(namespace: NetworkNamespace, work: (route: RouteSocket) => T): T {
  const route = RouteSocket.open({ namespace });
  try {
    return work(route);
  } finally {
    route.close();
  }
}

export function setLoopbackUp(namespace: NetworkNamespace): void {
  withRoutes(namespace, route => route.setLink(loopbackOf(route), { up: true }));
}

export function loopbackOf(route: RouteSocket) {
  const lo = route.link('lo');
  if (!lo) throw new Error('the namespace has no lo');
  return lo;
}

/** A namespace with the node's addresses on its loopback interface, for tests that send no packets. */
export function createLoopbackNode(): NetworkNamespace {
  const namespace = NetworkNamespace.create();
  setLoopbackUp(namespace);
  withRoutes(namespace, route => {
    const lo = loopbackOf(route);
    route.addAddress(lo, { ip: NODE_IP, prefix: 24 });
    route.addAddress(lo, { ip: NODE_IP6, prefix: 64, nodad: true });
  });
  return namespace;
}

/** A namespace with the node's addresses. It has default routes: without them no Service could be called from it. */
export function createNodeNamespace(): NetworkNamespace {
  const namespace = NetworkNamespace.create();
  try {
    setLoopbackUp(namespace);
    withRoutes(namespace, route => {
      const eth0 = route.addLink({ kind: 'veth', name: 'eth0', peer: { name: 'eth0-peer' } });
      const peer = route.link('eth0-peer');
      if (peer) route.setLink(peer, { up: true });
      route.setLink(eth0, { up: true });
      route.addAddress(eth0, { ip: NODE_IP, prefix: 24 });
      route.addAddress(eth0, { ip: NODE_IP6, prefix: 64, nodad: true });
      for (const { network, ip } of Object.values(GATEWAYS)) {
        const destination = parseCidr(network);
        if (destination) route.addRoute({ destination, via: ip });
      }
    });
    return namespace;
  } catch (error) {
    namespace.close();
    throw error;
  }
}
