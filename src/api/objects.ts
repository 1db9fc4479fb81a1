/**
 * The Kubernetes objects that a proxy uses, with the fields that it uses. Field names are those of the API. A field
 * that the API leaves out is undefined here. The source of manifests fills in the defaults that an API server would
 * fill in.
 */
export interface ObjectMeta {
  readonly name: string;
  /** Empty for kinds without a namespace (Node, ServiceCIDR). */
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly resourceVersion?: string | undefined;
  /** For Services and Nodes only: Events refer to them by it. */
  readonly uid?: string | undefined;
  /** For Nodes only: a Node that is being deleted gets no new traffic from load balancers. */
  readonly deletionTimestamp?: string | undefined;
}

export type Protocol = 'TCP' | 'UDP' | 'SCTP';
export type TrafficPolicy = 'Cluster' | 'Local';

export interface Service {
  readonly kind: 'Service';
  readonly metadata: ObjectMeta;
  readonly spec: ServiceSpec;
  readonly status: { readonly loadBalancer: { readonly ingress: readonly LoadBalancerIngress[] } };
}

export interface ServiceSpec {
  readonly type: string;
  readonly clusterIP: string;
  readonly clusterIPs: readonly string[];
  readonly ipFamilies: readonly string[];
  readonly ports: readonly ServicePortSpec[];
  /** A controller makes EndpointSlices for the pods that match the selector. Without one, something else makes them. */
  readonly hasSelector?: boolean | undefined;
  readonly externalIPs: readonly string[];
  readonly loadBalancerSourceRanges: readonly string[];
  readonly sessionAffinity: string;
  /** `sessionAffinityConfig.clientIP.timeoutSeconds` */
  readonly sessionAffinityTimeoutSeconds?: number | undefined;
  readonly externalTrafficPolicy: string;
  readonly internalTrafficPolicy?: string | undefined;
  readonly healthCheckNodePort: number;
}

export interface ServicePortSpec {
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
  readonly nodePort: number;
  /** The port of the pods: a number, or the name of a container's port. Undefined means the number of the port itself. */
  readonly targetPort?: number | string | undefined;
}

export interface LoadBalancerIngress {
  readonly ip: string;
  readonly ipMode?: string | undefined;
}

export interface EndpointSlice {
  readonly kind: 'EndpointSlice';
  readonly metadata: ObjectMeta;
  readonly addressType: string;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly EndpointSpec[];
}

export interface EndpointPort {
  readonly name?: string | undefined;
  readonly protocol: Protocol;
  readonly port?: number | undefined;
}

export interface EndpointSpec {
  readonly addresses: readonly string[];
  readonly nodeName?: string | undefined;
  readonly zone?: string | undefined;
  /** The object behind the endpoint, usually a pod. */
  readonly targetRef?: TargetRef | undefined;
  readonly ready?: boolean | undefined;
  readonly serving?: boolean | undefined;
  readonly terminating?: boolean | undefined;
  /** `hints.forZones[].name` */
  readonly zoneHints: readonly string[];
  /** `hints.forNodes[].name` */
  readonly nodeHints: readonly string[];
}

export interface TargetRef {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export interface Node {
  readonly kind: 'Node';
  readonly metadata: ObjectMeta;
  readonly podCIDRs: readonly string[];
  readonly addresses: readonly NodeAddress[];
  /** The keys of `spec.taints[]`. */
  readonly taints?: readonly string[] | undefined;
}

export interface NodeAddress {
  readonly type: string;
  readonly address: string;
}

export interface ServiceCIDR {
  readonly kind: 'ServiceCIDR';
  readonly metadata: ObjectMeta;
  readonly cidrs: readonly string[];
}

export type KubeObject = Service | EndpointSlice | Node | ServiceCIDR;

/** `namespace/name`, with the slash even if the namespace is empty. */
export function objectKey(metadata: Pick<ObjectMeta, 'namespace' | 'name'>): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** The reverse of `objectKey`. */
export function objectName(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

export const LABEL_SERVICE_NAME = 'kubernetes.io/service-name';
export const LABEL_SERVICE_PROXY_NAME = 'service.kubernetes.io/service-proxy-name';
export const LABEL_HEADLESS_SERVICE = 'service.kubernetes.io/headless';
export const LABEL_ZONE = 'topology.kubernetes.io/zone';
export const ANNOTATION_TRIGGER_TIME = 'endpoints.kubernetes.io/last-change-trigger-time';
/** For a Service: the scheduler that ipvs mode uses instead of the configured one. */
export const ANNOTATION_SCHEDULER = 'pointsman.dev/scheduler';
/** For a Service: how a connection gets its endpoint, `round-robin`, `weighted`, …. */
export const ANNOTATION_BALANCE = 'pointsman.dev/balance';
/** For a Service: what a consistent hash is made of. */
export const ANNOTATION_HASH_BY = 'pointsman.dev/hash-by';
/** For a Service: weights of endpoints by address. For an EndpointSlice: the same, or one weight for all of them. */
export const ANNOTATION_WEIGHTS = 'pointsman.dev/weights';
/** For a Service: weights of endpoints by zone. */
export const ANNOTATION_ZONE_WEIGHTS = 'pointsman.dev/zone-weights';
/** For a Service: over how many seconds a new endpoint gets its share. */
export const ANNOTATION_SLOW_START = 'pointsman.dev/slow-start-seconds';
/** For a Service: what happens to connections of an endpoint that is gone. */
export const ANNOTATION_ENDPOINT_END = 'pointsman.dev/endpoint-end';
/** For a Service: how long `drain-then-reset` waits. */
export const ANNOTATION_GRACE = 'pointsman.dev/endpoint-end-grace-seconds';
/** For a Service: after how many failed connections in a row an endpoint is left out for a while. */
export const ANNOTATION_EJECT_AFTER = 'pointsman.dev/eject-after-failures';
/** The annotations of a Service that have an effect. */
export const SERVICE_ANNOTATIONS = [
  ANNOTATION_SCHEDULER,
  ANNOTATION_BALANCE,
  ANNOTATION_HASH_BY,
  ANNOTATION_WEIGHTS,
  ANNOTATION_ZONE_WEIGHTS,
  ANNOTATION_SLOW_START,
  ANNOTATION_ENDPOINT_END,
  ANNOTATION_GRACE,
  ANNOTATION_EJECT_AFTER,
] as const;
