import { setTimeout as delay } from 'node:timers/promises';
import type { ControlPlane } from '../control-plane/control-plane.ts';

const POLL_MS = 50;

export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly kind: string }[];
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly { readonly name: string; readonly image: string }[];
    readonly affinity?: unknown;
  };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/**
 * Does for the pods of DaemonSets what a scheduler and kubelets do in a cluster, without running anything: it binds a
 * pod to its node, reports that the pod is ready, and removes a pod that should end.
 */
export class PlayedKubelets {
  readonly #cluster: ControlPlane;
  readonly #loop: Promise<void>;
  #isClosed = false;

  constructor(cluster: ControlPlane) {
    this.#cluster = cluster;
    this.#loop = this.#run();
  }

  /** The pods of DaemonSets, in all namespaces. */
  async pods(): Promise<readonly Pod[]> {
    const { json } = await this.#cluster.request('GET', '/api/v1/pods');
    const { items } = json as { readonly items: readonly Pod[] };
    return items.filter(({ metadata }) => metadata.ownerReferences?.[0]?.kind === 'DaemonSet');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      try {
        for (const pod of await this.pods()) await this.#serve(pod);
      } catch {
        // A request may fail while the API server is busy. The next turn repeats it.
      }
      await delay(POLL_MS);
    }
  }

  /** A pod may have gone meanwhile. Then the requests fail, which does no harm. */
  async #serve(pod: Pod): Promise<void> {
    const path = `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}`;
    if (pod.metadata.deletionTimestamp) {
      await this.#cluster.request('DELETE', `${path}?gracePeriodSeconds=0`);
    } else if (pod.spec.nodeName === undefined) {
      const target = { apiVersion: 'v1', kind: 'Node', name: nodeOf(pod) };
      const metadata = { name: pod.metadata.name };
      await this.#cluster.request('POST', `${path}/binding`, { apiVersion: 'v1', kind: 'Binding', metadata, target });
    } else if (!pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) {
      const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
      await this.#cluster.request('PATCH', `${path}/status`, { status }, 'application/merge-patch+json');
    }
  }
}

/** The DaemonSet controller names the node of a pod in the pod's affinity. */
function nodeOf({ spec: { affinity } }: Pod): string {
  const [, name = ''] =
    /"key":"metadata.name","operator":"In","values":\["([^"]+)"\]/.exec(JSON.stringify(affinity)) ?? [];
  return name;
}
