import {
  type EndpointSlice,
  type KubeObject,
  LABEL_SERVICE_NAME,
  type Node,
  type Service,
  type ServiceCIDR,
} from '../../src/api/index.ts';
import { type Change, changeBetween } from '../../src/lib/change.ts';
import type { Family } from '../../src/net/index.ts';
import { isSelected, type SourceHandlers } from '../../src/source/index.ts';
import { manifestKey } from '../../src/source/parse-manifests.ts';
import type { Step } from './recorded-case.ts';

/** The changes that a source would report, by kind. */
export interface ObjectChanges {
  readonly nodes: readonly Change<Node>[];
  readonly serviceCidrs: readonly Change<ServiceCIDR>[];
  readonly services: readonly Change<Service>[];
  readonly endpointSlices: readonly Change<EndpointSlice>[];
}

/** Passes the changes to the handlers, as a source does. */
export function handOver(
  changes: ObjectChanges,
  handlers: Pick<SourceHandlers, 'nodeChanged' | 'serviceCidrChanged' | 'serviceChanged' | 'endpointSliceChanged'>,
): void {
  for (const change of changes.nodes) handlers.nodeChanged(change);
  for (const change of changes.serviceCidrs) handlers.serviceCidrChanged(change);
  for (const change of changes.services) handlers.serviceChanged(change);
  for (const change of changes.endpointSlices) handlers.endpointSliceChanged(change);
}

export const NODE_NAME = 'node-a';

/** The Node of cases that have none. */
const NODE: Node = {
  kind: 'Node',
  metadata: {
    name: NODE_NAME,
    namespace: '',
    labels: { 'kubernetes.io/hostname': NODE_NAME, 'topology.kubernetes.io/zone': 'zone-a' },
    annotations: {},
  },
  podCIDRs: ['10.244.1.0/24', 'fd00:10:244:1::/64'],
  addresses: [
    { type: 'InternalIP', address: '192.168.0.2' },
    { type: 'InternalIP', address: 'fd00:192:168::2' },
  ],
};

/** Every API server creates this object. */
const SERVICE_CIDR: ServiceCIDR = {
  kind: 'ServiceCIDR',
  metadata: { name: 'kubernetes', namespace: '', labels: {}, annotations: {} },
  cidrs: ['10.96.0.0/12', 'fd00:10:96::/108'],
};

/** Two versions of an object. One of them may be missing. */
interface Versions {
  readonly from: KubeObject | undefined;
  readonly to: KubeObject | undefined;
}

/** The objects of a case, as its steps change them. */
export class CaseObjects {
  readonly #objects = new Map<string, KubeObject>();
  #hasStarted = false;

  get all(): readonly KubeObject[] {
    return [...this.#objects.values()];
  }

  /** In the order in which they were created. */
  get services(): readonly Service[] {
    return [...this.#objects.values()].filter(object => isKind('Service', object));
  }

  /** The number of endpoints that one port of the Service may have. */
  endpointCount({ metadata }: Service, family: Family): number {
    const slices = [...this.#objects.values()].filter(object => isKind('EndpointSlice', object));
    return slices
      .filter(slice => slice.metadata.namespace === metadata.namespace)
      .filter(slice => slice.addressType === family)
      .filter(slice => slice.metadata.labels[LABEL_SERVICE_NAME] === metadata.name)
      .reduce((count, { endpoints }) => count + endpoints.length, 0);
  }

  /** Applies a step. Returns the changes that a source reports to a proxy on the node. */
  apply(step: Step): ObjectChanges {
    const set = this.#hasStarted ? step.set : [...this.#missingObjects(step), ...step.set];
    this.#hasStarted = true;
    const versions = [
      ...set.map(object => this.#put(manifestKey({ kind: object.kind, ...object.metadata }), object)),
      ...step.removed.map(object => this.#put(manifestKey({ kind: object.kind, ...object.metadata }), undefined)),
    ];
    return {
      nodes: changesOf('Node', versions),
      serviceCidrs: changesOf('ServiceCIDR', versions),
      services: changesOf('Service', versions),
      endpointSlices: changesOf('EndpointSlice', versions),
    };
  }

  #missingObjects({ set }: Step): readonly KubeObject[] {
    const hasNode = set.some(({ kind, metadata }) => kind === 'Node' && metadata.name === NODE_NAME);
    return hasNode ? [SERVICE_CIDR] : [NODE, SERVICE_CIDR];
  }

  #put(key: string, to: KubeObject | undefined): Versions {
    const from = this.#objects.get(key);
    if (to) this.#objects.set(key, to);
    else this.#objects.delete(key);
    return { from, to };
  }
}

type OfKind<K extends KubeObject['kind']> = Extract<KubeObject, { readonly kind: K }>;

function isKind<K extends KubeObject['kind']>(kind: K, object: KubeObject | undefined): object is OfKind<K> {
  return object?.kind === kind;
}

function changesOf<K extends KubeObject['kind']>(kind: K, versions: readonly Versions[]): readonly Change<OfKind<K>>[] {
  const selected = (object: KubeObject | undefined) =>
    isKind(kind, object) && isSelected(object, NODE_NAME) ? object : undefined;
  return versions.flatMap(({ from, to }) => changeBetween(selected(from), selected(to)) ?? []);
}
