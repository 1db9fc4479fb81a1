import type { NetworkNamespace } from '../kernel/netns.ts';
import { RouteSocket } from '../kernel/rtnetlink/index.ts';
import { familyOf, hostCidr, type Ip } from '../net/index.ts';
import { type Cluster, placementOf } from './playground/index.ts';

const LINK_LOCAL = 'fe80::';

/** The pods of the cluster. They send all their packets through the node. */
export class Pods {
  readonly #cluster: Cluster;
  readonly #namespaces = new Map<Ip, NetworkNamespace>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Returns the namespace of the pod with this address. Creates the pod if the cluster has none. */
  ensure(ip: Ip): NetworkNamespace {
    const known = this.#namespaces.get(ip);
    if (known) return known;
    const namespace = this.#cluster.addPod(ip);
    if (placementOf(ip).kind === 'pod') sendThroughNode(namespace, ip);
    this.#namespaces.set(ip, namespace);
    return namespace;
  }
}

/**
 * Makes the pod send to its neighbours through the node too. Without this, the answers of neighbours take the short way
 * over the bridge and bypass the node's netfilter, unless the kernel module br_netfilter is loaded. Few machines load
 * it.
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
    route.addRoute({ destination: hostCidr(gateway), dev: eth0 });
    for (const { destination } of direct) route.deleteRoute({ destination, dev: eth0 });
  } finally {
    route.close();
  }
}
