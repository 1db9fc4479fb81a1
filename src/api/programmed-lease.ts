import { fieldsOf } from '../lib/is-record.ts';

/** What the Lease of a node says about its proxy. */
export interface ProgrammedLease {
  readonly node: string;
  /** Everything up to these resource versions is in the node's kernel, except what is set aside. */
  readonly services: string | undefined;
  readonly endpointSlices: string | undefined;
  /** The first Services that the mode could not program, as `namespace/name`. */
  readonly setAside: readonly string[];
  /** How many Services that are. */
  readonly setAsideCount: number;
  /** The kernel's id of the time since the node's last boot. After a boot the kernel has nothing of before. */
  readonly bootId: string | undefined;
  /** When the proxy last wrote the Lease, in milliseconds since 1970. */
  readonly renewedAt: number;
  /** After this long without a write, the proxy probably does not run. */
  readonly durationSeconds: number;
}

/** The namespace of the Leases. It is their own, so that a proxy that writes them can write no others. */
export const PROGRAMMED_NAMESPACE = 'pointsman-nodes';

const ANNOTATION_SERVICES = 'pointsman.dev/programmed-services';
const ANNOTATION_ENDPOINT_SLICES = 'pointsman.dev/programmed-endpointslices';
const ANNOTATION_SET_ASIDE = 'pointsman.dev/set-aside';
const ANNOTATION_SET_ASIDE_COUNT = 'pointsman.dev/set-aside-count';
const ANNOTATION_BOOT_ID = 'pointsman.dev/boot-id';
const NAME_PREFIX = 'pointsman-';
const MAX_SET_ASIDE = 50;

export function leasePath(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
}

export function leaseName(node: string): string {
  return `${NAME_PREFIX}${node}`;
}

/** The Lease as the API server takes it, whole or as a merge patch. `ownerUid` is that of the Node. */
export function encodeProgrammedLease(lease: ProgrammedLease, namespace: string, ownerUid: string | undefined): object {
  const { node, services, endpointSlices, setAside, setAsideCount, bootId, renewedAt, durationSeconds } = lease;
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: leaseName(node),
      namespace,
      labels: { 'app.kubernetes.io/managed-by': 'pointsman' },
      // In a merge patch, null removes what an earlier version had.
      annotations: {
        [ANNOTATION_SERVICES]: services ?? null,
        [ANNOTATION_ENDPOINT_SLICES]: endpointSlices ?? null,
        [ANNOTATION_SET_ASIDE]: setAsideCount === 0 ? null : setAside.slice(0, MAX_SET_ASIDE).join(','),
        [ANNOTATION_SET_ASIDE_COUNT]: setAsideCount === 0 ? null : String(setAsideCount),
        [ANNOTATION_BOOT_ID]: bootId ?? null,
      },
      ...(ownerUid !== undefined && {
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node, uid: ownerUid }],
      }),
    },
    spec: {
      holderIdentity: node,
      leaseDurationSeconds: durationSeconds,
      renewTime: `${new Date(renewedAt).toISOString().slice(0, -1)}000Z`,
    },
  };
}

/** Decodes parsed JSON. Undefined if it is not a Lease that a proxy wrote. */
export function decodeProgrammedLease(value: unknown): ProgrammedLease | undefined {
  const { metadata, spec } = fieldsOf(value);
  const { name, annotations } = fieldsOf(metadata);
  const { holderIdentity: node, leaseDurationSeconds, renewTime } = fieldsOf(spec);
  if (typeof node !== 'string' || name !== leaseName(node)) return undefined;
  const text = (key: string) => {
    const found = fieldsOf(annotations)[key];
    return typeof found === 'string' && found !== '' ? found : undefined;
  };
  return {
    node,
    services: text(ANNOTATION_SERVICES),
    endpointSlices: text(ANNOTATION_ENDPOINT_SLICES),
    setAside: text(ANNOTATION_SET_ASIDE)?.split(',') ?? [],
    setAsideCount: Number(text(ANNOTATION_SET_ASIDE_COUNT) ?? 0),
    bootId: text(ANNOTATION_BOOT_ID),
    renewedAt: typeof renewTime === 'string' ? Date.parse(renewTime) : Number.NaN,
    durationSeconds: typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds : 0,
  };
}
