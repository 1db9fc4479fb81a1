import type { NetworkNamespace } from '../kernel/netns.ts';
import { RouteSocket } from '../kernel/rtnetlink/index.ts';
import { type Cidr, familyOf, type Ip } from '../net/index.ts';
import { type Cluster, placeOf } from './playground/index.ts';

const ONE_ADDRESS = { IPv4: 32, IPv6: 128 } as const;
const LINK_LOCAL = 'fe80::';

/** The cluster's pods, as the demo needs them. */
export class Pods {
  readonly #cluster: Cluster;
  readonly #namespaces = new Map<Ip, NetworkNamespace>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** The namespace of the pod with this address, which is made if need be. */
  get(ip: Ip): NetworkNamespace {
    const known = this.#namespaces.get(ip);
    if (known) return known;
    const namespace = this.#cluster.addPod(ip);
    if (placeOf(ip).kind === 'pod') sendThroughNode(namespace, ip);
    this.#namespaces.set(ip, namespace);
    return namespace;
  }
}

/**
 * Makes the pod send to its neighbours through the node too. Their answers would otherwise take the short way over the
 * bridge, past the node's netfilter, unless the kernel has br_netfilter, which few machines load by themselves.
 */
function sendThroughNode(namespace: NetworkNamespace, ip: Ip): void {
  const route = RouteSocket.open({ namespace });
  try {
    const eth0 = route.link('eth0');
    const routes = route
      .routes({ family: familyOf(ip) })
      .filter(({ type, dev }) => type === 'unicast' && dev === eth0?.index);
    const gateway = routes.find(({ via }) => via !== undefined)?.via;
    const direct = routes.filter(({ via, destination }) => via === undefined && destination.address !== LINK_LOCAL);
    if (!eth0 || !gateway) throw new RangeError(`the pod ${ip} has no default route`);
    route.addRoute({ destination: only(gateway), dev: eth0 });
    for (const { destination } of direct) route.deleteRoute({ destination, dev: eth0 });
  } finally {
    route.close();
  }
}

function only(ip: Ip): Cidr {
  return { address: ip, prefix: ONE_ADDRESS[familyOf(ip)] };
}
