import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeObject, decodeObjects } from './decode.ts';

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: 'b8a2',
    resourceVersion: '42',
    labels: { app: 'web', 'service.kubernetes.io/service-proxy-name': '' },
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', 'pointsman.dev/scheduler': 'lc' },
  },
  spec: {
    type: 'LoadBalancer',
    clusterIP: '10.96.0.10',
    clusterIPs: ['10.96.0.10', 'fd00::10'],
    ipFamilies: ['IPv4', 'IPv6'],
    ports: [
      { name: 'http', port: 80, targetPort: 'http', protocol: 'TCP', nodePort: 30080 },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ],
    externalIPs: ['198.51.100.1'],
    loadBalancerSourceRanges: ['10.0.0.0/8'],
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
    externalTrafficPolicy: 'Local',
    internalTrafficPolicy: 'Cluster',
    healthCheckNodePort: 31000,
    selector: { app: 'web' },
  },
  status: { loadBalancer: { ingress: [{ ip: '203.0.113.1', ipMode: 'VIP' }, { hostname: 'lb.example.com' }] } },
};

const slice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    name: 'web-1',
    namespace: 'shop',
    labels: { 'kubernetes.io/service-name': 'web' },
    annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-05-04T10:00:00Z' },
  },
  addressType: 'IPv4',
  ports: [
    { name: 'http', port: 8080, protocol: 'TCP', appProtocol: 'http' },
    { name: null, port: null },
  ],
  endpoints: [
    {
      addresses: ['10.244.1.2'],
      conditions: { ready: false, serving: true, terminating: true },
      nodeName: 'node-a',
      zone: 'zone-a',
      targetRef: { kind: 'Pod', namespace: 'shop', name: 'web-0', uid: 'u' },
      hints: { forZones: [{ name: 'zone-a' }], forNodes: [{ name: 'node-a' }] },
    },
    { addresses: ['10.244.2.3'], conditions: {} },
  ],
};

test('API-1 a Service is decoded, with only the fields that a proxy uses', () => {
  assert.deepEqual(decodeObject(service), {
    kind: 'object',
    object: {
      kind: 'Service',
      metadata: {
        name: 'web',
        namespace: 'shop',
        labels: { 'service.kubernetes.io/service-proxy-name': '' },
        annotations: { 'pointsman.dev/scheduler': 'lc' },
        resourceVersion: '42',
        uid: 'b8a2',
      },
      spec: {
        type: 'LoadBalancer',
        clusterIP: '10.96.0.10',
        clusterIPs: ['10.96.0.10', 'fd00::10'],
        ipFamilies: ['IPv4', 'IPv6'],
        ports: [
          { name: 'http', protocol: 'TCP', port: 80, nodePort: 30080, targetPort: 'http' },
          { name: 'dns', protocol: 'UDP', port: 53, nodePort: 0, targetPort: undefined },
        ],
        hasSelector: true,
        externalIPs: ['198.51.100.1'],
        loadBalancerSourceRanges: ['10.0.0.0/8'],
        sessionAffinity: 'ClientIP',
        sessionAffinityTimeoutSeconds: 60,
        externalTrafficPolicy: 'Local',
        internalTrafficPolicy: 'Cluster',
        healthCheckNodePort: 31000,
      },
      status: {
        loadBalancer: {
          ingress: [
            { ip: '203.0.113.1', ipMode: 'VIP' },
            { ip: '', ipMode: undefined },
          ],
        },
      },
    },
  });
});

test('API-1 an EndpointSlice is decoded', () => {
  const unset = { nodeName: undefined, zone: undefined, targetRef: undefined };
  const endpoint = { ...unset, ready: undefined, serving: undefined, terminating: undefined };
  assert.deepEqual(decodeObject(slice), {
    kind: 'object',
    object: {
      kind: 'EndpointSlice',
      metadata: {
        name: 'web-1',
        namespace: 'shop',
        labels: { 'kubernetes.io/service-name': 'web' },
        annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-05-04T10:00:00Z' },
        resourceVersion: undefined,
      },
      addressType: 'IPv4',
      ports: [
        { name: 'http', protocol: 'TCP', port: 8080 },
        { name: undefined, protocol: 'TCP', port: undefined },
      ],
      endpoints: [
        {
          addresses: ['10.244.1.2'],
          nodeName: 'node-a',
          zone: 'zone-a',
          targetRef: { kind: 'Pod', namespace: 'shop', name: 'web-0' },
          ready: false,
          serving: true,
          terminating: true,
          zoneHints: ['zone-a'],
          nodeHints: ['node-a'],
        },
        { addresses: ['10.244.2.3'], ...endpoint, zoneHints: [], nodeHints: [] },
      ],
    },
  });
});

test('API-1 wrong values in fields that only explanations need do not make an object unusable', () => {
  const odd = {
    ...service,
    spec: { ...service.spec, selector: 'app', ports: [{ port: 80, targetPort: true }] },
  };
  const result = decodeObject(odd);
  assert.ok(result.kind === 'object' && result.object.kind === 'Service');
  assert.equal(result.object.spec.hasSelector, false);
  assert.equal(result.object.spec.ports[0]?.targetPort, undefined);
  const oddSlice = decodeObject({
    ...slice,
    endpoints: [{ addresses: ['10.244.1.2'], zone: 1, targetRef: { name: 2 } }],
  });
  assert.ok(oddSlice.kind === 'object' && oddSlice.object.kind === 'EndpointSlice');
  assert.deepEqual(oddSlice.object.endpoints[0]?.targetRef, { kind: '', namespace: '', name: '' });
});

test('API-1 a Node is decoded with its zone, addresses, pod ranges, taints and deletion time', () => {
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'node-a',
      labels: { 'topology.kubernetes.io/zone': 'zone-a', 'kubernetes.io/os': 'linux' },
      deletionTimestamp: '2026-05-04T10:00:00Z',
    },
    spec: {
      podCIDR: '10.244.1.0/24',
      podCIDRs: ['10.244.1.0/24', 'fd00::/64'],
      taints: [{ key: 'gone', effect: 'x' }],
    },
    status: { addresses: [{ type: 'InternalIP', address: '192.168.0.2' }] },
  };
  assert.deepEqual(decodeObject(node), {
    kind: 'object',
    object: {
      kind: 'Node',
      metadata: {
        name: 'node-a',
        namespace: '',
        labels: { 'topology.kubernetes.io/zone': 'zone-a' },
        annotations: {},
        resourceVersion: undefined,
        uid: undefined,
        deletionTimestamp: '2026-05-04T10:00:00Z',
      },
      podCIDRs: ['10.244.1.0/24', 'fd00::/64'],
      addresses: [{ type: 'InternalIP', address: '192.168.0.2' }],
      taints: ['gone'],
    },
  });
});

test('API-1 a Node with podCIDR only has one pod range', () => {
  const result = decodeObject({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'a' },
    spec: { podCIDR: '10.1.0.0/24' },
  });
  assert.ok(result.kind === 'object' && result.object.kind === 'Node');
  assert.deepEqual(result.object.podCIDRs, ['10.1.0.0/24']);
});

test('API-1 a ServiceCIDR is decoded', () => {
  const value = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name: 'kubernetes' },
    spec: { cidrs: ['10.96.0.0/12', 'fd00::/112'] },
  };
  const result = decodeObject(value);
  assert.ok(result.kind === 'object' && result.object.kind === 'ServiceCIDR');
  assert.deepEqual(result.object.cidrs, ['10.96.0.0/12', 'fd00::/112']);
});

const ignored: [string, unknown, string][] = [
  ['another kind', { apiVersion: 'apps/v1', kind: 'Deployment' }, 'Deployment.apps'],
  ['another kind of the core group', { apiVersion: 'v1', kind: 'ConfigMap' }, 'ConfigMap'],
  [
    'another group with the same kind',
    { ...service, apiVersion: 'serving.knative.dev/v1' },
    'Service.serving.knative.dev',
  ],
  ['a list of another kind', { apiVersion: 'v1', kind: 'PodList', items: [] }, 'PodList'],
  ['a kind named like a member of every object', { apiVersion: 'v1', kind: 'constructor' }, 'constructor'],
];
for (const [name, value, want] of ignored) {
  test(`API-1 ${name} is ignored as ${want}`, () =>
    assert.deepEqual(decodeObject(value), { kind: 'ignored', ignored: want }));
}

function withSpec(spec: object): unknown {
  return { ...service, spec: { ...service.spec, ...spec } };
}
function withMetadata(metadata: unknown): unknown {
  return { ...service, metadata };
}
function withSlice(fields: object): unknown {
  return { ...slice, ...fields };
}

const refused: [string, unknown, string[]][] = [
  ['a value that is not an object', 5, [': is the number 5, but must be a map with apiVersion and kind']],
  ['a list', [], [': is a list, but must be a map with apiVersion and kind']],
  ['an object without a kind', {}, ['kind: is missing: write the kind of the object, such as Service']],
  ['a kind that is not text', { kind: 7 }, ['kind: is the number 7, but must be text']],
  ['an object without an apiVersion', { ...service, apiVersion: undefined }, ['apiVersion: is missing: write v1']],
  ['an apiVersion that is not text', { ...service, apiVersion: 1 }, ['apiVersion: is the number 1: write v1']],
  [
    'an old EndpointSlice',
    withSlice({ apiVersion: 'discovery.k8s.io/v1beta1' }),
    ['apiVersion: is discovery.k8s.io/v1beta1, which is not supported: write the object as discovery.k8s.io/v1'],
  ],
  [
    'an old ServiceCIDR',
    { apiVersion: 'networking.k8s.io/v1beta1', kind: 'ServiceCIDR', metadata: { name: 'a' } },
    ['apiVersion: is networking.k8s.io/v1beta1, which is not supported: write the object as networking.k8s.io/v1'],
  ],
  ['an object without metadata', withMetadata(undefined), ['metadata.name: is missing: give the object a name']],
  ['metadata that is a list', withMetadata([]), ['metadata: is a list, but must be a map']],
  ['an empty name', withMetadata({ name: '' }), ['metadata.name: is missing: give the object a name']],
  [
    'a numeric name',
    withMetadata({ name: 80 }),
    ['metadata.name: is the number 80, but must be text: put it in quotes'],
  ],
  [
    'a label of the wrong type',
    withMetadata({ name: 'web', labels: { 'service.kubernetes.io/service-proxy-name': true } }),
    ['metadata.labels["service.kubernetes.io/service-proxy-name"]: is true, but must be text: put it in quotes'],
  ],
  ['a list of ports that is a map', withSpec({ ports: {} }), ['spec.ports: is a map, but must be a list']],
  ['a port that is not a map', withSpec({ ports: [80] }), ['spec.ports[0]: is the number 80, but must be a map']],
  [
    'a port without a number',
    withSpec({ ports: [{ name: 'a', port: 1 }, { name: 'b' }] }),
    ['spec.ports[1].port: is missing: give the port a number'],
  ],
  [
    'port numbers out of range',
    withSpec({ ports: [{ port: 0 }, { port: 65536 }, { port: 1.5 }, { port: -1 }, { port: Number.NaN }] }),
    ['0', '65536', '1.5', '-1', 'NaN'].map(
      (found, i) =>
        `spec.ports[${i}].port: is the number ${found}, but must be a whole number from 1 to 65535: correct it`,
    ),
  ],
  [
    'a port number in quotes',
    withSpec({ ports: [{ port: '80' }] }),
    ['spec.ports[0].port: is the text "80", but must be a whole number from 1 to 65535: remove the quotes'],
  ],
  [
    'a node port out of range',
    withSpec({ ports: [{ port: 80, nodePort: 70000 }] }),
    ['spec.ports[0].nodePort: is the number 70000, but must be a whole number from 0 to 65535: correct it'],
  ],
  [
    'an unknown protocol',
    withSpec({ ports: [{ port: 80, protocol: 'tcp' }] }),
    ['spec.ports[0].protocol: is the text "tcp", but must be TCP, UDP or SCTP'],
  ],
  [
    'an address that is no text',
    withSpec({ externalIPs: ['10.0.0.1', 5] }),
    ['spec.externalIPs[1]: is the number 5, but must be text: put it in quotes'],
  ],
  [
    'a timeout that is no number',
    withSpec({ sessionAffinityConfig: { clientIP: { timeoutSeconds: '1h' } } }),
    [
      'spec.sessionAffinityConfig.clientIP.timeoutSeconds: is the text "1h", but must be a whole number from 0 to 2147483647: correct it',
    ],
  ],
  [
    'a status of the wrong shape',
    { ...service, status: { loadBalancer: { ingress: [{ ip: 1 }] } } },
    ['status.loadBalancer.ingress[0].ip: is the number 1, but must be text: put it in quotes'],
  ],
  [
    'several problems at once',
    { ...service, metadata: { namespace: 1 }, spec: { type: [], ports: [{ port: 'x', protocol: null }, null] } },
    [
      'metadata.name: is missing: give the object a name',
      'metadata.namespace: is the number 1, but must be text: put it in quotes',
      'spec.type: is a list, but must be text',
      'spec.ports[0].port: is the text "x", but must be a whole number from 1 to 65535: correct it',
      'spec.ports[1]: is null, but must be a map',
    ],
  ],
  [
    'wrong conditions, addresses and hints',
    withSlice({
      endpoints: [
        { addresses: '10.0.0.1', conditions: { ready: 'yes' } },
        { addresses: [null], hints: { forZones: ['a'], forNodes: [{ name: 1 }] } },
      ],
    }),
    [
      'endpoints[0].conditions.ready: is the text "yes", but must be true or false, without quotes',
      'endpoints[0].addresses: is the text "10.0.0.1", but must be a list',
      'endpoints[1].hints.forZones[0]: is the text "a", but must be a map',
      'endpoints[1].hints.forNodes[0].name: is the number 1, but must be text: put it in quotes',
      'endpoints[1].addresses[0]: is null, but must be text',
    ],
  ],
  [
    'an endpoint port out of range',
    withSlice({ ports: [{ port: 65536 }] }),
    ['ports[0].port: is the number 65536, but must be a whole number from 0 to 65535: correct it'],
  ],
  [
    'a list where one object is wanted',
    { apiVersion: 'v1', kind: 'List', items: [] },
    ['kind: is List, but must be the kind of a single object: take the objects out of the list'],
  ],
  [
    'a very long text',
    withSpec({ ports: [{ port: 80, protocol: 'x'.repeat(1000) }] }),
    [`spec.ports[0].protocol: is the text "${'x'.repeat(60)}…", but must be TCP, UDP or SCTP`],
  ],
];

for (const [name, value, want] of refused) {
  test(`API-1 ${name} is refused, and the problem has the field and advice`, () => {
    const result = decodeObject(value);
    assert.ok(result.kind === 'problems');
    assert.deepEqual(
      result.problems.map(({ field, message }) => `${field ?? ''}: ${message}`),
      want,
    );
  });
}

test('API-1 a problem has the path of its field', () => {
  const result = decodeObject(withSpec({ ports: [{ port: 80 }, { port: 0 }] }));
  assert.ok(result.kind === 'problems');
  assert.deepEqual(result.problems[0]?.path, ['spec', 'ports', 1, 'port']);
});

test('API-1 the result for a refused object has its name, if it can be read', () => {
  const subject = (value: unknown) => {
    const result = decodeObject(value);
    return result.kind === 'problems' ? result.subject : result;
  };
  assert.deepEqual(subject(withSpec({ ports: 1 })), { kind: 'Service', namespace: 'shop', name: 'web' });
  assert.deepEqual(subject(withSlice({ apiVersion: 'discovery.k8s.io/v1beta1' })), {
    kind: 'EndpointSlice',
    namespace: 'shop',
    name: 'web-1',
  });
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', namespace: 'wrong' }, spec: 1 };
  assert.deepEqual(subject(node), { kind: 'Node', namespace: '', name: 'a' });
  assert.equal(subject({ ...service, metadata: { namespace: 'shop' } }), undefined);
});

test('API-1 null means absent in every field', () => {
  const nulls = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', labels: null }, spec: null, status: null };
  const result = decodeObject(nulls);
  assert.ok(result.kind === 'object' && result.object.kind === 'Service');
  assert.deepEqual(result.object.spec.ports, []);
  assert.equal(result.object.spec.clusterIP, '');
});

test('API-1 each object of a List is decoded by its own kind', () => {
  const items = decodeObjects({ apiVersion: 'v1', kind: 'List', items: [service, slice, { kind: 'Pod' }, 5] });
  assert.deepEqual(
    items.map(({ result, path }) => `${path.join('.')} ${result.kind}`),
    ['items.0 object', 'items.1 object', 'items.2 ignored', 'items.3 problems'],
  );
});

test("API-1 the items of an API server's list have the kind of the list", () => {
  const bare = ({ apiVersion, kind, ...rest }: { apiVersion: string; kind: string }) => rest;
  const kinds = (value: unknown) =>
    decodeObjects(value).map(({ result }) => (result.kind === 'object' ? result.object.kind : result));
  const node = { metadata: { name: 'a' } };
  assert.deepEqual(kinds({ apiVersion: 'v1', kind: 'ServiceList', items: [bare(service)] }), ['Service']);
  assert.deepEqual(kinds({ apiVersion: 'v1', kind: 'NodeList', items: [node] }), ['Node']);
  assert.deepEqual(kinds({ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSliceList', items: [bare(slice)] }), [
    'EndpointSlice',
  ]);
  assert.deepEqual(kinds({ apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDRList', items: [node] }), [
    'ServiceCIDR',
  ]);
  assert.deepEqual(kinds({ apiVersion: 'v1', kind: 'ServiceList', items: null }), []);
});

test('API-1 each item of a list of another version is refused', () => {
  const [item] = decodeObjects({ apiVersion: 'discovery.k8s.io/v1beta1', kind: 'EndpointSliceList', items: [{}] });
  assert.ok(item?.result.kind === 'problems');
  assert.equal(item.result.problems[0]?.field, 'apiVersion');
});

test('API-1 items that are not a list, and a list in a list, are refused', () => {
  const messages = (value: unknown) =>
    decodeObjects(value).flatMap(({ result }) => (result.kind === 'problems' ? result.problems[0]?.message : []));
  assert.deepEqual(messages({ apiVersion: 'v1', kind: 'List', items: {} }), ['is a map, but must be a list']);
  const inner = { apiVersion: 'v1', kind: 'ServiceList', items: [] };
  assert.deepEqual(messages({ apiVersion: 'v1', kind: 'List', items: [inner] }), [
    'is ServiceList, but must be the kind of a single object: take the objects out of the list',
  ]);
});

test('API-1 the given type is the default for an object without a type', () => {
  const result = decodeObject({ metadata: { name: 'a' } }, { apiVersion: 'v1', kind: 'Service' });
  assert.equal(result.kind, 'object');
});

test('API-1 no value causes an exception, and every problem has a message', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withSparseArray: true,
    withTypedArray: true,
  });
  const types = fc.constantFrom(
    { apiVersion: 'v1', kind: 'Service' },
    { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' },
    { apiVersion: 'v1', kind: 'Node' },
    { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR' },
    { apiVersion: 'v1', kind: 'List' },
    {},
  );
  const shaped = fc.record(
    { metadata: anything, spec: anything, status: anything, ports: anything, endpoints: anything, items: anything },
    { requiredKeys: [] },
  );
  const spec = fc.record({ ports: fc.array(anything), externalIPs: fc.array(anything), clusterIPs: anything });
  const value = fc.oneof(
    anything,
    fc.tuple(types, shaped).map(([type, fields]) => ({ ...fields, ...type })),
    spec.map(fields => withSpec(fields)),
    fc
      .array(fc.record({ addresses: anything, hints: anything, conditions: anything }))
      .map(endpoints => withSlice({ endpoints })),
  );
  fc.assert(
    fc.property(value, input => {
      for (const { result } of decodeObjects(input)) {
        if (result.kind !== 'problems') continue;
        assert.ok(result.problems.length > 0);
        for (const problem of result.problems) assert.ok(problem.message.length > 0);
      }
    }),
    { numRuns: 300 },
  );
});

const LONG_LABEL = 'a'.repeat(64);
const BAD_NAMES = ['x"\n-A KUBE-SERVICES -j ACCEPT', 'Web', 'a_b', '-a', 'a-', 'a b', 'a/b', 'ä', '\0', LONG_LABEL];

const withField = (object: object, path: readonly (string | number)[], value: unknown): unknown => {
  const copy = structuredClone(object);
  const parent = path.slice(0, -1).reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], copy);
  (parent as Record<string, unknown>)[path.at(-1) ?? ''] = value;
  return copy;
};

const NAME_FIELDS: [string, object, readonly (string | number)[]][] = [
  ['the name of a Service', service, ['metadata', 'name']],
  ['the namespace of a Service', service, ['metadata', 'namespace']],
  ['the name of a port of a Service', service, ['spec', 'ports', 0, 'name']],
  ['the namespace of a slice', slice, ['metadata', 'namespace']],
  ['the name of a port of a slice', slice, ['ports', 0, 'name']],
];
for (const [what, object, path] of NAME_FIELDS) {
  test(`API-2 ${what} must be a DNS label`, () => {
    for (const name of BAD_NAMES) {
      const result = decodeObject(withField(object, path, name));
      assert.equal(result.kind, 'problems', JSON.stringify(name));
      assert.deepEqual(result.kind === 'problems' && result.problems.map(problem => problem.path), [path]);
    }
    for (const name of ['a', '0', 'web-1', 'a'.repeat(63)]) {
      assert.equal(decodeObject(withField(object, path, name)).kind, 'object', name);
    }
  });
}

test('API-2 the names of all other objects must be DNS subdomains', () => {
  const others = [
    slice,
    { apiVersion: 'v1', kind: 'Node', metadata: { name: '' } },
    { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata: { name: '' } },
  ];
  for (const object of others) {
    const decode = (name: string) => decodeObject(withField(object, ['metadata', 'name'], name)).kind;
    for (const name of ['x"\n', 'Web', 'a..b', '.a', 'a.', 'a b', 'ä', 'a.'.repeat(127)]) {
      assert.equal(decode(name), 'problems', JSON.stringify(name));
    }
    for (const name of ['a', 'web-1.example.com', LONG_LABEL]) assert.equal(decode(name), 'object', name);
  }
});

test('API-2 labels that the proxy uses must be label values', () => {
  const path = ['metadata', 'labels', 'kubernetes.io/service-name'];
  for (const value of ['x"\n', 'a b', '-a', LONG_LABEL]) {
    assert.deepEqual(decodeObject(withField(slice, path, value)), {
      kind: 'problems',
      problems: [
        {
          field: 'metadata.labels["kubernetes.io/service-name"]',
          path,
          message: `is the text ${JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)}, but must be a label value: at most 63 letters, digits, '-', '_' and '.', with a letter or digit at the beginning and the end`,
        },
      ],
      subject: { kind: 'EndpointSlice', namespace: 'shop', name: 'web-1' },
    });
  }
  for (const value of ['', 'Web_1.x']) assert.equal(decodeObject(withField(slice, path, value)).kind, 'object');
});
