import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type EndpointSlice, objectKey, type Protocol, type Service } from '../../src/api/index.ts';
import type { Mode } from '../../src/modes/mode.ts';
import type { ModeHarness } from './mode-harness.ts';
import { service, slice } from './objects.ts';

// Objects with the right types and arbitrary values. They come to the model as they are, without the checks of a
// decoder, so that every later wall is tried too.

type Objects = readonly (Service | EndpointSlice)[];

/** The Services that must be programmed whatever other objects there are. */
export const GOOD: Objects = [
  service('good', { type: 'NodePort', clusterIP: '10.96.0.1', ports: [{ nodePort: 30080 }] }),
  slice('good-1', ['10.244.1.1']),
];

const INJECTED = 'x"\n-A KUBE-SERVICES -j LOG --log-prefix evil\n-A KUBE-SERVICES -m comment --comment "y';

/** Matches a rule that the injected text asks for, as nft or iptables lists it. */
export const INJECTED_RULE = /^[^"]*log prefix "evil"|^-A.*-j LOG/m;

const text = fc.oneof(
  fc.constantFrom('', '"', "'", '\\', '\n', '\0', '\x1b[2J', ' ', '}', '{', ';', '#', '$(id)', 'ä', '\u2028'),
  fc.constantFrom('web', 'x'.repeat(300), 'x'.repeat(5000), INJECTED),
  fc.string({ maxLength: 20, unit: 'binary' }),
);
const address = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('10.96.9.9', '10.244.9.9', '198.51.100.9') },
  fc.constantFrom('fd00::9', '::1', '::', 'fe80::1', 'ff02::1', '::ffff:10.96.9.8', '64:ff9b::1'),
  fc.constantFrom('127.0.0.1', '0.0.0.0', '224.0.0.1', '239.255.255.255', '255.255.255.255', '169.254.169.254'),
  fc.constantFrom('', ' ', 'None', '010.96.9.9', '10.96.9', '10.96.9.9/24', '-1.0.0.0'),
  text,
);
const number = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(80, 443, 8080) },
  fc.constantFrom(0, 1, 22, 65535, 65536, -1, 0.5, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53, 1e300),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0),
);
const cidr = fc.oneof(
  fc.constantFrom('10.0.0.0/8', '0.0.0.0/0', '::/0', '10.0.0.0/33', '10.0.0.1/-1', 'fd00::/8'),
  text,
);
const family = fc.oneof(fc.constantFrom('IPv4', 'IPv6'), text);
const protocol = fc.constantFrom<Protocol[]>('TCP', 'UDP', 'SCTP');
const list = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { maxLength: 3 });
/** Usually the plain value, so that most objects have some effect. */
const mostly = <T>(plain: T, arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(plain) }, arbitrary);
const policy = fc.oneof(fc.constantFrom('Cluster', 'Local'), text);
const port = fc.record({ name: text, protocol, port: number, nodePort: number });

const hostileService = fc
  .record({
    type: fc.oneof(fc.constantFrom('ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'), text),
    clusterIP: address,
    clusterIPs: mostly([], list(address)),
    ipFamilies: mostly(['IPv4'], list(family)),
    ports: list(port).map(ports => [...ports, ...ports.slice(0, 1)]),
    externalIPs: list(address),
    ingress: list(fc.record({ ip: address, ipMode: fc.constantFrom('VIP', 'Proxy') })),
    loadBalancerSourceRanges: list(cidr),
    sessionAffinity: fc.oneof(fc.constantFrom('None', 'ClientIP'), text),
    sessionAffinityTimeoutSeconds: number,
    externalTrafficPolicy: policy,
    internalTrafficPolicy: policy,
    healthCheckNodePort: number,
    annotations: fc.dictionary(fc.constantFrom('pointsman.dev/scheduler', 'pointsman.dev/balance'), text),
  })
  .map(overrides => ({
    ...overrides,
    clusterIPs: overrides.clusterIPs.length === 0 ? [overrides.clusterIP] : overrides.clusterIPs,
  }));
const condition = fc.option(fc.boolean(), { nil: undefined });
const endpoint = fc.record({
  addresses: list(address),
  nodeName: fc.oneof(fc.constant('node-a'), text),
  ready: condition,
  serving: condition,
  terminating: condition,
  zoneHints: list(text),
  nodeHints: list(text),
});

/** One hostile Service and a slice of it. */
export const hostileObjects: fc.Arbitrary<readonly [Service, EndpointSlice]> = fc
  .record({
    name: text.map(name => `hostile${name}`),
    namespace: text,
    overrides: hostileService,
    addressType: mostly('IPv4', family),
    endpoints: list(endpoint),
    triggerTime: text,
  })
  .map(({ name, namespace, overrides, addressType, endpoints, triggerTime }) => {
    const own = service('hostile', overrides);
    const ports = overrides.ports.map(({ name, protocol, port }) => ({ name, protocol, port }));
    const backing = slice('hostile-1', [], { service: name, addressType, ports, triggerTime });
    return [
      { ...own, metadata: { ...own.metadata, name, namespace } },
      { ...backing, metadata: { ...backing.metadata, namespace }, endpoints },
    ] as const;
  });

/** Checks that the mode programs the good Services beside any hostile one, at partial syncs and at full ones. */
export async function assertSurvives(
  harness: ModeHarness<Mode>,
  assertGood: () => void,
  runs: { readonly numRuns: number },
): Promise<void> {
  harness.set(...GOOD);
  await harness.sync();
  assertGood();
  const property = fc.asyncProperty(hostileObjects, fc.boolean(), async ([own, backing], isFull) => {
    harness.set(own, backing);
    await harness.sync();
    if (isFull) await harness.restart();
    assertGood();
    assert.ok(harness.setAside().every(({ name }) => name !== 'good'));
    harness.deleteService(objectKey(own.metadata));
    harness.deleteEndpointSlice(objectKey(backing.metadata));
    await harness.sync();
    assertGood();
    assert.deepEqual(harness.setAside(), []);
  });
  await fc.assert(property, { ...runs, endOnFailure: true });
}
