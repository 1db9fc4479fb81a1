import fc from 'fast-check';
import { bytes, map, number, text, texts } from './protobuf-writer.ts';

// Random objects that an API server can send. A field that is a pointer in Go can be missing in both encodings. JSON
// also leaves out other fields if they are empty or zero, and protobuf does not.

const word = fc.constantFrom<string>('a', 'web', 'zone-a', 'ä', '10.0.0.1', 'fd00::1');
/** Most are valid, so that most objects are. */
const name = fc.constantFrom<string>('a', 'web', 'zone-a', 'web-1', 'ä', '');
const words = fc.array(word, { minLength: 1, maxLength: 3 });
const port = fc.oneof(fc.integer({ min: 1, max: 65535 }), fc.constantFrom(-1, 70000));
const labels = fc.dictionary(
  fc.constantFrom<string>(
    'kubernetes.io/service-name',
    'topology.kubernetes.io/zone',
    'app',
    'service.kubernetes.io/headless',
  ),
  fc.constantFrom<string>('a', 'web', 'zone-a', '', ' b'),
);
const annotations = fc.dictionary(
  fc.constantFrom<string>('endpoints.kubernetes.io/last-change-trigger-time', 'note'),
  fc.string({ maxLength: 5 }),
);
const some = { requiredKeys: [] };
const metadata = fc.record({ name, namespace: name, uid: word, resourceVersion: word, labels, annotations }, some);
const protocol = fc.constantFrom<string>('TCP', 'UDP', 'SCTP', 'ICMP');
const servicePort = fc.record(
  {
    name,
    protocol,
    port: fc.oneof(port, fc.constant(0)),
    nodePort: port,
    // Protobuf always has it, and JSON then has at least 0.
    targetPort: fc.oneof(port, fc.constantFrom<string>('', 'http'), fc.constant(0)),
  },
  { requiredKeys: ['port', 'targetPort'] },
);
const serviceSpec = fc.record(
  {
    type: word,
    clusterIP: word,
    clusterIPs: words,
    ipFamilies: words,
    ports: fc.array(servicePort, { minLength: 1, maxLength: 3 }),
    selector: fc.dictionary(fc.constantFrom<string>('app', 'tier'), word),
    externalIPs: words,
    loadBalancerSourceRanges: words,
    sessionAffinity: word,
    sessionAffinityConfig: fc.record(
      { clientIP: fc.record({ timeoutSeconds: fc.integer({ min: -1, max: 100_000 }) }, some) },
      some,
    ),
    externalTrafficPolicy: word,
    internalTrafficPolicy: fc.constantFrom<string>('', 'Local'),
    healthCheckNodePort: port,
  },
  some,
);
const ingress = fc.record({ ip: word, hostname: word, ipMode: fc.constantFrom<string>('', 'VIP') }, some);
export const services = fc.record(
  {
    metadata,
    spec: serviceSpec,
    status: fc.record(
      { loadBalancer: fc.record({ ingress: fc.array(ingress, { minLength: 1, maxLength: 3 }) }, some) },
      some,
    ),
  },
  some,
);
const endpoint = fc.record(
  {
    addresses: words,
    conditions: fc.record({ ready: fc.boolean(), serving: fc.boolean(), terminating: fc.boolean() }, some),
    hostname: word,
    nodeName: fc.constantFrom<string>('', 'node-a'),
    zone: word,
    targetRef: fc.record({ kind: fc.constantFrom<string>('Pod', ''), namespace: name, name, uid: word }, some),
    hints: fc.record(
      {
        forZones: fc.array(fc.record({ name: word }), { minLength: 1 }),
        forNodes: fc.array(fc.record({ name: word }), { minLength: 1 }),
      },
      some,
    ),
  },
  { requiredKeys: ['addresses'] },
);
export const slices = fc.record(
  {
    metadata,
    addressType: word,
    ports: fc.array(
      fc.record(
        {
          name: fc.constantFrom<string>('', 'http'),
          protocol,
          port: fc.oneof(port, fc.constant(0)),
          appProtocol: word,
        },
        some,
      ),
      { minLength: 1, maxLength: 3 },
    ),
    endpoints: fc.array(endpoint, { minLength: 1, maxLength: 4 }),
  },
  some,
);
const seconds = fc.integer({ min: 0, max: 4_000_000_000 });
export const nodes = fc.record(
  {
    metadata: fc.tuple(metadata, fc.option(seconds, { nil: undefined })).map(([meta, deleted]) => ({
      ...meta,
      ...(deleted !== undefined && { deletionTimestamp: new Date(deleted * 1000).toISOString().replace('.000Z', 'Z') }),
    })),
    spec: fc.record(
      {
        podCIDR: word,
        podCIDRs: words,
        taints: fc.array(fc.record({ key: word, effect: word }), { minLength: 1, maxLength: 2 }),
      },
      some,
    ),
    status: fc.record(
      { addresses: fc.array(fc.record({ type: word, address: word }), { minLength: 1, maxLength: 3 }) },
      some,
    ),
  },
  some,
);
export const serviceCidrs = fc.record({ metadata, spec: fc.record({ cidrs: words }) });

type Of<A> = A extends fc.Arbitrary<infer T> ? T : never;
type Meta = Of<typeof metadata> & { readonly deletionTimestamp?: string };

export function encodeMeta(meta: Meta = {}): number[] {
  const { deletionTimestamp } = meta;
  const deleted = deletionTimestamp === undefined ? undefined : number(1, Date.parse(deletionTimestamp) / 1000);
  return [
    ...text(1, meta.name ?? ''),
    ...text(2, ''),
    ...text(3, meta.namespace ?? ''),
    ...text(5, meta.uid ?? ''),
    ...text(6, meta.resourceVersion ?? ''),
    ...number(7, 0),
    ...bytes(8, []),
    ...bytes(9, deleted),
    ...map(11, meta.labels),
    ...map(12, meta.annotations),
    ...bytes(17, text(1, 'kubectl')),
  ];
}

export function encodeService({ metadata, spec = {}, status = {} }: Of<typeof services>): number[] {
  const clientIP = spec.sessionAffinityConfig?.clientIP;
  const config = clientIP ? bytes(1, number(1, clientIP.timeoutSeconds)) : [];
  const encodedSpec = [
    ...(spec.ports ?? []).flatMap(port =>
      bytes(1, [
        ...text(1, port.name ?? ''),
        ...text(2, port.protocol ?? ''),
        ...number(3, port.port),
        ...encodeTargetPort(port.targetPort),
        ...number(5, port.nodePort ?? 0),
      ]),
    ),
    ...map(2, spec.selector),
    ...text(3, spec.clusterIP ?? ''),
    ...text(4, spec.type ?? ''),
    ...texts(5, spec.externalIPs),
    ...text(7, spec.sessionAffinity ?? ''),
    ...texts(9, spec.loadBalancerSourceRanges),
    ...text(11, spec.externalTrafficPolicy ?? ''),
    ...number(12, spec.healthCheckNodePort ?? 0),
    ...number(13, false),
    ...(spec.sessionAffinityConfig ? bytes(14, config) : []),
    ...texts(18, spec.clusterIPs),
    ...texts(19, spec.ipFamilies),
    ...text(22, spec.internalTrafficPolicy),
  ];
  const ingress = (status.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname, ipMode }) =>
    bytes(1, [...text(1, ip ?? ''), ...text(2, hostname ?? ''), ...text(3, ipMode)]),
  );
  return [...bytes(1, encodeMeta(metadata)), ...bytes(2, encodedSpec), ...bytes(3, bytes(1, ingress))];
}

function encodeTargetPort(targetPort: number | string): number[] {
  const isText = typeof targetPort === 'string';
  const content = isText ? ([1, 0, targetPort] as const) : ([0, targetPort, ''] as const);
  return bytes(4, [...number(1, content[0]), ...number(2, content[1]), ...text(3, content[2])]);
}

export function encodeSlice({ metadata, addressType, ports = [], endpoints = [] }: Of<typeof slices>): number[] {
  return [
    ...bytes(1, encodeMeta(metadata)),
    ...endpoints.flatMap(endpoint => bytes(2, encodeEndpoint(endpoint))),
    ...ports.flatMap(({ name, protocol, port, appProtocol }) =>
      bytes(3, [...text(1, name), ...text(2, protocol), ...number(3, port), ...text(4, appProtocol)]),
    ),
    ...text(4, addressType ?? ''),
  ];
}

function encodeEndpoint({
  addresses,
  conditions = {},
  hostname,
  nodeName,
  zone,
  targetRef,
  hints,
}: Of<typeof endpoint>): number[] {
  const names = (field: number, list: readonly { name: string }[] = []) =>
    list.flatMap(({ name }) => bytes(field, text(1, name)));
  const { ready, serving, terminating } = conditions;
  return [
    ...texts(1, addresses),
    ...bytes(2, [...number(1, ready), ...number(2, serving), ...number(3, terminating)]),
    ...text(3, hostname),
    ...(targetRef ? bytes(4, encodeTargetRef(targetRef)) : []),
    ...text(6, nodeName),
    ...text(7, zone),
    ...(hints ? bytes(8, [...names(1, hints.forZones), ...names(2, hints.forNodes)]) : []),
  ];
}

type TargetRefInput = NonNullable<Of<typeof endpoint>['targetRef']>;

function encodeTargetRef({ kind = '', namespace = '', name = '', uid = '' }: TargetRefInput): number[] {
  return [...text(1, kind), ...text(2, namespace), ...text(3, name), ...text(4, uid)];
}

export function encodeNode({ metadata, spec = {}, status = {} }: Of<typeof nodes>): number[] {
  const taints = (spec.taints ?? []).flatMap(({ key, effect }) => bytes(5, [...text(1, key), ...text(3, effect)]));
  const addresses = (status.addresses ?? []).flatMap(({ type, address }) =>
    bytes(5, [...text(1, type), ...text(2, address)]),
  );
  return [
    ...bytes(1, encodeMeta(metadata)),
    ...bytes(2, [...text(1, spec.podCIDR ?? ''), ...number(4, false), ...taints, ...texts(7, spec.podCIDRs)]),
    ...bytes(3, addresses),
  ];
}
