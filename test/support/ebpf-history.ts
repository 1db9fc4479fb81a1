import fc from 'fast-check';
import type { Service } from '../../src/api/index.ts';
import { parseNodePortAddresses } from '../../src/model/index.ts';
import type { ModeSettings } from '../../src/modes/mode.ts';
import { FAMILIES, type Family, type Ip } from '../../src/net/index.ts';
import type { ClusterEvent } from './cluster-events.ts';
import { service, slice } from './objects.ts';

// Random histories of ebpf mode. They have few names, addresses and ports, so that addresses and ports
// move between Services.

/** 10.244.1.4 is an address of the node itself. */
const EXTERNAL_IPS = ['1.1.1.1', '2.2.2.2', '10.244.1.4', 'fd00:1::1'];
const LEAST_CONNECTIONS = { annotations: { 'pointsman.dev/balance': 'least-connections' } };
const WEIGHTS = { 'pointsman.dev/weights': '10.244.9.1=3,10.244.9.2=0,fd00:10:244::1=2' };
const name = fc.constantFrom('a', 'b', 'c');

/** What a Service of the test has. */
interface Fields {
  readonly type: string;
  /** The last part of its cluster IPs. */
  readonly number: number;
  readonly nodePort: number;
  readonly externalIPs: readonly string[];
  readonly ingress: readonly { readonly ip: string }[];
  readonly loadBalancerSourceRanges: readonly string[];
  readonly affinitySeconds: number;
  /** Empty: the Service chooses no algorithm. */
  readonly balance: string;
  readonly externalTrafficPolicy: string;
  readonly internalTrafficPolicy: string;
}

const FIELDS: { readonly [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> } = {
  type: fc.constantFrom('ClusterIP', 'NodePort', 'LoadBalancer'),
  number: fc.integer({ min: 1, max: 3 }),
  nodePort: fc.constantFrom(30001, 30002),
  externalIPs: fc.subarray(EXTERNAL_IPS),
  ingress: fc.subarray([{ ip: '2.2.2.2' }, { ip: '3.3.3.3' }]),
  loadBalancerSourceRanges: fc.constantFrom([], [], ['10.0.0.0/8']),
  affinitySeconds: fc.constantFrom(0, 10, 100),
  balance: fc.constantFrom('', 'least-connections', 'least-connections', 'weighted', 'round-robin'),
  externalTrafficPolicy: fc.constantFrom('Cluster', 'Local'),
  internalTrafficPolicy: fc.constantFrom('Cluster', 'Cluster', 'Local'),
};
const anyFields: fc.Arbitrary<Fields> = fc.record(FIELDS);
const oneField: fc.Arbitrary<Partial<Fields>> = fc.oneof(
  ...Object.entries(FIELDS).map(([field, values]) =>
    (values as fc.Arbitrary<unknown>).map(value => ({ [field]: value })),
  ),
);

function serviceOf(name: string, { number, type, nodePort, affinitySeconds, balance, ...spec }: Fields): Service {
  return service(name, {
    ...spec,
    type,
    ports: [{ nodePort: type === 'ClusterIP' ? 0 : nodePort }],
    clusterIP: `10.96.0.${number}`,
    clusterIPs: [`10.96.0.${number}`, `fd00:10:96::${number}`],
    ipFamilies: FAMILIES,
    ...(affinitySeconds > 0 && { sessionAffinity: 'ClientIP', sessionAffinityTimeoutSeconds: affinitySeconds }),
    ...(balance !== '' && { annotations: { 'pointsman.dev/balance': balance, ...WEIGHTS } }),
  });
}

const anySlice = fc
  .record({ name, family: fc.constantFrom(...FAMILIES), numbers: fc.subarray([1, 2, 3, 4]), local: fc.nat({ max: 4 }) })
  .map(({ name, family, numbers, local }) =>
    slice(
      `${name}-${family}`,
      numbers.map(number => ({
        ip: family === 'IPv4' ? `10.244.9.${number}` : `fd00:10:244::${number}`,
        nodeName: number === local ? 'node-a' : 'node-b',
        ready: true,
      })),
      { addressType: family, service: name },
    ),
  );
const event: fc.Arbitrary<ClusterEvent> = fc.oneof(
  { weight: 5, arbitrary: anySlice.map(object => ({ kind: 'slice' as const, object })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(name, anyFields)
      .map(([name, fields]) => ({ kind: 'service' as const, object: serviceOf(name, fields) })),
  },
  { weight: 1, arbitrary: name.map(name => ({ kind: 'delete-service' as const, key: `default/${name}` })) },
);
/** The versions of one Service. Each differs from the one before in one field. */
const versions: fc.Arbitrary<readonly ClusterEvent[]> = fc
  .tuple(name, anyFields, fc.array(oneField, { minLength: 1, maxLength: 4 }))
  .map(([name, first, changes]) => {
    let fields = first;
    return [first, ...changes].map(change => {
      fields = { ...fields, ...change };
      return { kind: 'service', object: serviceOf(name, fields) };
    });
  });

/** The maps of a generation have no room for all frontends of this Service. */
export const LARGE = service('large', {
  clusterIP: '10.96.99.1',
  externalIPs: Array.from({ length: 4200 }, (_, i) => `10.97.${i >> 8}.${i & 255}`),
});
/** These need every part, so that the other Services do not cause a new generation. It would hide what went wrong. */
export const NEEDS_ALL_PARTS: readonly ClusterEvent[] = [
  {
    kind: 'service',
    object: service('all', { clusterIP: '10.96.98.1', sessionAffinity: 'ClientIP', ...LEAST_CONNECTIONS }),
  },
  { kind: 'slice', object: slice('all-1', ['10.244.9.1', '10.244.9.9']) },
];

export type Settings = Pick<ModeSettings, 'masqueradeAll' | 'nodePortAddresses' | 'nodePortIPs'>;
export const DEFAULT_SETTINGS: Settings = {
  masqueradeAll: false,
  nodePortAddresses: parseNodePortAddresses('IPv4', []),
  nodePortIPs: [],
};
const anySettings: fc.Arbitrary<Settings> = fc.record({
  masqueradeAll: fc.constantFrom(false, false, true),
  nodePortAddresses: fc
    .constantFrom([], ['192.168.0.0/16'], ['192.168.0.0/16', '127.0.0.0/8'])
    .map(cidrs => parseNodePortAddresses('IPv4', cidrs)),
  nodePortIPs: fc.subarray(['192.168.0.2', '192.168.0.3', '127.0.0.1', 'fd00:192:168::2'] as Ip[]),
});

/** What happens between two syncs. */
export type Step =
  | { readonly kind: 'events'; readonly events: readonly ClusterEvent[] }
  | { readonly kind: 'settings'; readonly settings: Settings }
  | { readonly kind: 'leave'; readonly family: Family; readonly ids: readonly string[] }
  | { readonly kind: 'restart' | 'look' | 'damage' };

export const eventsStep = (events: readonly ClusterEvent[]): Step => ({ kind: 'events', events });
/** Steps that follow one another. */
const someSteps: fc.Arbitrary<readonly Step[]> = fc.oneof(
  { weight: 20, arbitrary: fc.array(event, { minLength: 1, maxLength: 4 }).map(events => [eventsStep(events)]) },
  { weight: 10, arbitrary: versions.map(events => events.map(event => eventsStep([event]))) },
  { weight: 4, arbitrary: anySettings.map(settings => [{ kind: 'settings' as const, settings }]) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(...FAMILIES), fc.subarray(['default/a/TCP', 'default/b/TCP']))
      .map(([family, ids]) => [{ kind: 'leave' as const, family, ids }]),
  },
  { weight: 2, arbitrary: fc.constantFrom('restart', 'look', 'damage').map(kind => [{ kind } as Step]) },
);
export const history: fc.Arbitrary<readonly Step[]> = fc
  .array(someSteps, { minLength: 3, maxLength: 12 })
  .map(steps => steps.flat());
