import type { NetworkNamespace } from '../kernel/netns.ts';
import type { Ip } from '../net/index.ts';
import { type Cluster, type Placement, placementOf } from './playground/index.ts';

/** Where a pod runs. */
export interface PodAddress {
  readonly ip: Ip;
  /** Undefined if the endpoint does not name its node. */
  readonly nodeName?: string | undefined;
  /** Whether the pod runs on the node of the proxy. */
  readonly isLocal: boolean;
}

/** The pods of the cluster. They send all their packets through the node. */
export class Pods {
  readonly #cluster: Cluster;
  readonly #nodeIPs: () => readonly Ip[];
  readonly #namespaces = new Map<Ip, NetworkNamespace>();

  constructor(cluster: Cluster, nodeIPs: () => readonly Ip[]) {
    this.#cluster = cluster;
    this.#nodeIPs = nodeIPs;
  }

  /** Returns the namespace of the pod with this address. Creates the pod if the cluster has none. */
  ensure(pod: PodAddress): NetworkNamespace {
    const known = this.#namespaces.get(pod.ip);
    if (known) return known;
    const namespace = this.#cluster.addPod(pod.ip, this.#placementOf(pod), { sendsThroughNode: true });
    this.#namespaces.set(pod.ip, namespace);
    return namespace;
  }

  /** The objects decide where a pod runs. Only an endpoint without a node is placed by its address. */
  #placementOf({ ip, nodeName, isLocal }: PodAddress): Placement {
    if (this.#nodeIPs().includes(ip)) return { kind: 'node' };
    const usual = usualPlacement(ip);
    if (usual?.kind === 'node' || usual?.kind === 'host') return usual;
    if (isLocal) return { kind: 'pod' };
    if (usual?.kind === 'remote-pod' || (usual && nodeName === undefined)) return usual;
    return { kind: 'remote-pod', host: 'other-node' };
  }
}

function usualPlacement(ip: Ip): Placement | undefined {
  try {
    return placementOf(ip);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
