import { hostname } from 'node:os';
import type { Node } from '../api/index.ts';
import { RouteSocket, Scope } from '../kernel/rtnetlink/index.ts';

/** This machine as a Node: its global addresses are its internal ones. For use without a cluster. */
export function localNode(name: string): Node {
  const socket = RouteSocket.open();
  try {
    const addresses = [...socket.addresses()]
      .filter(({ scope }) => scope === Scope.GLOBAL)
      .map(({ ip }) => ({ type: 'InternalIP', address: ip }));
    return {
      kind: 'Node',
      metadata: { name, namespace: '', labels: {}, annotations: {} },
      podCIDRs: [],
      addresses: [...addresses, { type: 'Hostname', address: hostname() }],
    };
  } finally {
    socket.close();
  }
}
