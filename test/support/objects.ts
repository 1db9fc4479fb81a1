import type {
  EndpointPort,
  EndpointSlice,
  EndpointSpec,
  Node,
  Service,
  ServicePortSpec,
  ServiceSpec,
} from '../../src/api/index.ts';

type ServiceOverrides = Partial<Omit<ServiceSpec, 'ports'>> & {
  readonly ports?: readonly Partial<ServicePortSpec>[];
  readonly ingress?: readonly { ip: string; ipMode?: string }[];
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
};

/** A Service as an API server sends it. `name` may be `namespace/name`. The default namespace is `default`. */
export function service(name: string, overrides: ServiceOverrides = {}): Service {
  const { ports = [{}], ingress = [], labels = {}, annotations = {}, ...spec } = overrides;
  const clusterIP = spec.clusterIP ?? '10.96.0.1';
  return {
    kind: 'Service',
    metadata: { ...meta(name, labels), annotations },
    spec: {
      type: 'ClusterIP',
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: [clusterIP.includes(':') ? 'IPv6' : 'IPv4'],
      externalIPs: [],
      loadBalancerSourceRanges: [],
      sessionAffinity: 'None',
      externalTrafficPolicy: '',
      internalTrafficPolicy: undefined,
      healthCheckNodePort: 0,
      ...spec,
      ports: ports.map(port => ({ name: '', protocol: 'TCP', port: 80, nodePort: 0, ...port })),
    },
    status: { loadBalancer: { ingress } },
  };
}

interface SliceOverrides {
  readonly service?: string;
  readonly addressType?: string;
  readonly ports?: readonly EndpointPort[];
  readonly triggerTime?: string;
  readonly annotations?: Record<string, string>;
}

type EndpointInput = string | (Partial<Omit<EndpointSpec, 'addresses'>> & { readonly ip: string });

/** An EndpointSlice. The slice `namespace/service-suffix` belongs to the Service `namespace/service` by default. */
export function slice(
  name: string,
  endpoints: readonly EndpointInput[],
  overrides: SliceOverrides = {},
): EndpointSlice {
  const owner = overrides.service ?? name.slice(name.indexOf('/') + 1).replace(/-[^-]*$/, '');
  const annotations: Record<string, string> = {
    ...overrides.annotations,
    ...(overrides.triggerTime && { 'endpoints.kubernetes.io/last-change-trigger-time': overrides.triggerTime }),
  };
  const first = endpoints[0];
  const isV6 = (typeof first === 'string' ? first : (first?.ip ?? '')).includes(':');
  return {
    kind: 'EndpointSlice',
    metadata: { ...meta(name, { 'kubernetes.io/service-name': owner }), annotations },
    addressType: overrides.addressType ?? (isV6 ? 'IPv6' : 'IPv4'),
    ports: overrides.ports ?? [{ name: '', protocol: 'TCP', port: 8080 }],
    endpoints: endpoints.map(endpointSpec),
  };
}

function endpointSpec(input: EndpointInput): EndpointSpec {
  const { ip, ...spec } = typeof input === 'string' ? { ip: input } : input;
  return { addresses: [ip], zoneHints: [], nodeHints: [], ...spec };
}

interface NodeOverrides {
  readonly labels?: Record<string, string>;
  readonly internalIPs?: readonly string[];
  readonly externalIPs?: readonly string[];
  readonly podCIDRs?: readonly string[];
}

export function node(name: string, overrides: NodeOverrides = {}): Node {
  const { labels = {}, internalIPs = [], externalIPs = [], podCIDRs = [] } = overrides;
  return {
    kind: 'Node',
    metadata: { name, namespace: '', labels, annotations: {} },
    podCIDRs,
    addresses: [
      ...externalIPs.map(address => ({ type: 'ExternalIP', address })),
      ...internalIPs.map(address => ({ type: 'InternalIP', address })),
    ],
  };
}

function meta(name: string, labels: Record<string, string>) {
  const [namespace = '', own = ''] = name.includes('/') ? name.split('/') : ['default', name];
  return { namespace, name: own, labels, annotations: {} };
}
