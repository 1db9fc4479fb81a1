import type { KubeObject } from '../../test/control-plane/objects.ts';

/** The ranges of the addresses below. */
export const SERVICE_RANGE = '10.96.0.0/12';
export const POD_RANGE = '10.128.0.0/9';
export const SERVICE_PORT = 80;
export const POD_PORT = 8080;
/** As many as the controller of EndpointSlices puts into one. */
const ENDPOINTS_PER_SLICE = 100;
/** The API server itself uses the first addresses of the range. */
const FIRST_SERVICE = 256;
/** Nodes that the pods are on, without the node of the proxy. */
const NODES = 1000;
const TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';

export interface SliceOptions {
  /** Added to the numbers of the pods. So a slice gets other pods. */
  readonly shift?: number;
  /** Leaves out the first endpoints. */
  readonly without?: number;
  /** When the pods changed. Proxies measure the latency of network programming from this time. */
  readonly changedAt?: Date;
}

export function clusterIp(index: number): string {
  const n = FIRST_SERVICE + index;
  return `10.${96 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`;
}

export function podIp(n: number): string {
  return `10.${128 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`;
}

export function serviceObject(index: number): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: `service-${index}` },
    spec: { clusterIP: clusterIp(index), ports: [{ name: 'http', port: SERVICE_PORT, targetPort: POD_PORT }] },
  };
}

/** The EndpointSlices of a Service with this number of endpoints. */
export function sliceObjects(index: number, endpoints: number, options: SliceOptions = {}): readonly KubeObject[] {
  return Array.from({ length: Math.ceil(endpoints / ENDPOINTS_PER_SLICE) }, (_, i) => {
    const first = i * ENDPOINTS_PER_SLICE;
    const count = Math.min(ENDPOINTS_PER_SLICE, endpoints - first);
    return sliceObject(index, i, index * endpoints + first, count, options);
  });
}

/** EndpointSlice number `slice` of a Service. Its pods are the `count` ones from `firstPod` on. */
export function sliceObject(
  index: number,
  slice: number,
  firstPod: number,
  count: number,
  { shift = 0, without = 0, changedAt }: SliceOptions = {},
): KubeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `service-${index}-${slice}`,
      labels: { 'kubernetes.io/service-name': `service-${index}` },
      ...(changedAt && { annotations: { [TRIGGER_TIME]: changedAt.toISOString() } }),
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: POD_PORT, protocol: 'TCP' }],
    endpoints: Array.from({ length: count - without }, (_, i) => {
      const pod = firstPod + without + i;
      return { addresses: [podIp(pod + shift)], conditions: { ready: true }, nodeName: `node-${pod % NODES}` };
    }),
  };
}
