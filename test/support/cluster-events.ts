import fc from 'fast-check';
import {
  ANNOTATION_BALANCE,
  ANNOTATION_HASH_BY,
  ANNOTATION_WEIGHTS,
  ANNOTATION_ZONE_WEIGHTS,
  type EndpointSlice,
  type Service,
} from '../../src/api/index.ts';
import { ALGORITHMS } from '../../src/model/index.ts';
import { service, slice } from './objects.ts';

// Random events of a cluster. They use few names, so that objects replace each other and conflict.

export type ClusterEvent =
  | { readonly kind: 'service'; readonly object: Service }
  | { readonly kind: 'slice'; readonly object: EndpointSlice }
  | { readonly kind: 'delete-service'; readonly key: string }
  | { readonly kind: 'delete-slice'; readonly key: string };

const serviceName = fc.constantFrom('a', 'b', 'c');
const ip = fc.integer({ min: 1, max: 6 }).map(n => `10.0.0.${n}`);
const condition = fc.option(fc.boolean(), { nil: undefined });
const hints = fc.subarray(['zone-a', 'zone-b']);
const endpoint = fc.record({
  ip,
  nodeName: fc.constantFrom('node-a', 'node-b', undefined),
  ready: condition,
  serving: condition,
  terminating: condition,
  zone: fc.constantFrom('zone-a', 'zone-b', undefined),
  zoneHints: hints,
  nodeHints: fc.subarray(['node-a', 'node-b']),
});
/** Many Services have none. */
const annotations = fc.oneof(
  fc.constant({}),
  fc.record(
    {
      [ANNOTATION_BALANCE]: fc.constantFrom(...ALGORITHMS, 'nonsense'),
      [ANNOTATION_HASH_BY]: fc.constantFrom('client-address', 'client-address-and-port'),
      [ANNOTATION_WEIGHTS]: fc.constantFrom('10.0.0.1=3,10.0.0.2=0', '10.0.0.1=0,10.0.0.9=7', 'nonsense'),
      [ANNOTATION_ZONE_WEIGHTS]: fc.constantFrom('zone-a=2,zone-b=1', 'zone-a=0,zone-b=0', 'zone-a=0'),
    },
    { requiredKeys: [] },
  ),
);
const sliceAnnotations = fc.constantFrom(
  {},
  {},
  { [ANNOTATION_WEIGHTS]: '5' },
  { [ANNOTATION_WEIGHTS]: '0' },
  { [ANNOTATION_WEIGHTS]: '10.0.0.2=4,10.0.0.3=0' },
);
const protocol = fc.constantFrom('TCP', 'UDP', 'SCTP');
const anyService = fc
  .record({
    name: serviceName,
    type: fc.constantFrom('ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'),
    clusterIP: fc.constantFrom('10.96.0.1', '10.96.0.2', 'None', 'bad', 'fd00::1'),
    ports: fc.array(
      fc.record({
        name: fc.constantFrom('', 'x'),
        protocol,
        port: fc.constantFrom(80, 81),
        nodePort: fc.constantFrom(0, 30000),
      }),
      { maxLength: 3 },
    ),
    externalIPs: fc.subarray(['1.1.1.1', '2.2.2.2', 'nonsense', 'fd00::9']),
    loadBalancerSourceRanges: fc.subarray(['10.0.0.0/8', '0.0.0.0/0', 'nonsense']),
    ingress: fc.subarray([{ ip: '2.2.2.2' }, { ip: '3.3.3.3', ipMode: 'Proxy' }]),
    sessionAffinity: fc.constantFrom('None', 'ClientIP'),
    externalTrafficPolicy: fc.constantFrom('Cluster', 'Local'),
    internalTrafficPolicy: fc.constantFrom('Cluster', 'Local', undefined),
    annotations,
  })
  .map(({ name, ...overrides }) => service(name, overrides));
const anySlice = fc
  .record({
    name: serviceName,
    number: fc.integer({ min: 1, max: 3 }),
    owner: serviceName,
    endpoints: fc.array(endpoint, { maxLength: 5 }),
    ports: fc.array(
      fc.record({ name: fc.constantFrom('', 'x', undefined), protocol, port: fc.constantFrom(8080, 8081, undefined) }),
      { maxLength: 2 },
    ),
    annotations: sliceAnnotations,
  })
  .map(({ name, number, owner, endpoints, ports, annotations }) =>
    slice(`${name}-${number}`, endpoints, { service: owner, ports, addressType: 'IPv4', annotations }),
  );
export const clusterEvent: fc.Arbitrary<ClusterEvent> = fc.oneof(
  anyService.map(object => ({ kind: 'service' as const, object })),
  anySlice.map(object => ({ kind: 'slice' as const, object })),
  serviceName.map(name => ({ kind: 'delete-service' as const, key: `default/${name}` })),
  fc
    .tuple(serviceName, fc.integer({ min: 1, max: 3 }))
    .map(([name, n]) => ({ kind: 'delete-slice' as const, key: `default/${name}-${n}` })),
);

const ADDRESSES = ['1.1.1.1', '2.2.2.2', '3.3.3.3'];
const addressedService = fc
  .record({
    name: serviceName,
    nodePort: fc.constantFrom(30001, 30002),
    externalIPs: fc.shuffledSubarray(ADDRESSES),
    loadBalancerSourceRanges: fc.subarray(['10.0.0.0/8']),
    ingress: fc.shuffledSubarray(ADDRESSES).map(ips => ips.map(address => ({ ip: address }))),
    externalTrafficPolicy: fc.constantFrom('Cluster', 'Local'),
  })
  .map(({ name, nodePort, ...overrides }) =>
    service(name, { type: 'LoadBalancer', ports: [{ port: 80, nodePort }], ...overrides }),
  );
/** Service ports stay while their addresses change. An address may be an external IP and a load-balancer IP at once. */
export const addressEvent: fc.Arbitrary<ClusterEvent> = fc.oneof(
  addressedService.map(object => ({ kind: 'service' as const, object })),
  fc.tuple(serviceName, fc.boolean()).map(([name, some]) => ({
    kind: 'slice' as const,
    object: slice(`${name}-1`, some ? ['10.0.0.1'] : [], { service: name }),
  })),
);

/** A model or a state that events are applied to. */
export interface EventTarget {
  setService(service: Service): void;
  setEndpointSlice(slice: EndpointSlice): void;
  deleteService(key: string): void;
  deleteEndpointSlice(key: string): void;
}

export function applyEvent(target: EventTarget, event: ClusterEvent): void {
  if (event.kind === 'service') target.setService(event.object);
  else if (event.kind === 'slice') target.setEndpointSlice(event.object);
  else if (event.kind === 'delete-service') target.deleteService(event.key);
  else target.deleteEndpointSlice(event.key);
}

/** The events that created the objects which exist after all events. */
export function survivors(events: readonly ClusterEvent[]): ClusterEvent[] {
  const objects = new Map<string, ClusterEvent>();
  for (const event of events) {
    if (event.kind === 'delete-service') objects.delete(`service ${event.key}`);
    else if (event.kind === 'delete-slice') objects.delete(`slice ${event.key}`);
    else objects.set(`${event.kind} default/${event.object.metadata.name}`, event);
  }
  return [...objects.values()];
}
