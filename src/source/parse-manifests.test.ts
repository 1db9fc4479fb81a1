import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseYaml } from './parse-documents.ts';
import { type ManifestFile, parseManifests } from './parse-manifests.ts';

async function parse(text: string): Promise<ManifestFile> {
  return parseManifests(text, 'x.yaml');
}

async function problems(text: string): Promise<string[]> {
  const file = await parse(text);
  return file.problems.map(({ where, object, field, message }) =>
    [where, object, field, message].filter(part => part !== undefined).join(' | '),
  );
}

const DUAL_STACK = `apiVersion: v1
kind: Service
metadata:
  name: ds-lb
  namespace: default
spec:
  type: LoadBalancer
  selector:
    app: ds-lb
  ports:
  - port: 443
    protocol: TCP
    nodePort: 30122
  clusterIP: 10.96.0.122
  clusterIPs:
  - 10.96.0.122
  - fd00:10:96::122
  ipFamilies:
  - IPv4
  - IPv6
  ipFamilyPolicy: RequireDualStack
  externalTrafficPolicy: Local
  healthCheckNodePort: 31122
  sessionAffinity: ClientIP
status:
  loadBalancer:
    ingress:
    - ip: 203.0.113.122
      ipMode: VIP
    - ip: 2001:db8::122
      ipMode: VIP
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: ds-lb-2
  namespace: default
  labels:
    kubernetes.io/service-name: ds-lb
addressType: IPv6
endpoints:
- addresses:
  - fd00:10:244:1::5
  conditions:
    ready: true
  nodeName: node-a
ports:
- name: ''
  port: 8080
  protocol: TCP
`;

const HEADLESS_EXTERNAL_NAME_PROXY_NAME = `apiVersion: v1
kind: Service
metadata:
  name: headless
  namespace: default
spec:
  type: ClusterIP
  ports:
  - port: 80
    protocol: TCP
  clusterIP: None
  clusterIPs:
  - None
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: headless-1
  namespace: default
  labels:
    kubernetes.io/service-name: headless
    service.kubernetes.io/headless: ''
addressType: IPv4
endpoints:
- addresses:
  - 10.244.1.2
  conditions:
    ready: true
  nodeName: node-a
  zone: zone-a
ports:
- name: ''
  port: 8080
  protocol: TCP
---
apiVersion: v1
kind: Service
metadata:
  name: extname
  namespace: default
spec:
  type: ExternalName
  ports:
  - port: 80
    protocol: TCP
  externalName: example.com
---
apiVersion: v1
kind: Service
metadata:
  name: other-proxy
  namespace: default
  labels:
    service.kubernetes.io/service-proxy-name: other
spec:
  type: ClusterIP
  ports:
  - port: 80
    protocol: TCP
  clusterIP: 10.96.0.30
`;

const TOPOLOGY_HINTS = `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: hints-1
  namespace: default
  labels:
    kubernetes.io/service-name: hints
addressType: IPv4
endpoints:
- addresses:
  - 10.244.1.20
  conditions:
    ready: true
  nodeName: node-a
  zone: zone-a
  hints:
    forZones:
    - name: zone-a
- addresses:
  - 10.244.3.21
  conditions:
    ready: true
  nodeName: node-c
ports: []
`;

for (const [name, text, want] of [
  ['dual-stack', DUAL_STACK, ['Service default/ds-lb', 'EndpointSlice default/ds-lb-2']],
  [
    'headless-externalname-proxyname',
    HEADLESS_EXTERNAL_NAME_PROXY_NAME,
    [
      'Service default/headless',
      'EndpointSlice default/headless-1',
      'Service default/extname',
      'Service default/other-proxy',
    ],
  ],
  ['topology-hints', TOPOLOGY_HINTS, ['EndpointSlice default/hints-1']],
] as const) {
  test(`FILES-1 the objects of the case ${name} are read without problems`, async () => {
    const file = await parse(text);
    assert.deepEqual(file.problems, []);
    assert.deepEqual([...file.manifests.keys()], want);
  });
}

const WEB = `apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  clusterIP: 10.0.0.1
  ports:
  - port: 80
`;

test('FILES-1 a manifest has the line and column of its beginning', async () => {
  const file = await parse(`# first\n${WEB}---\n\n${WEB.replace('name: web', 'name: api')}`);
  assert.deepEqual(
    [...file.manifests.values()].map(manifest => manifest.where),
    ['x.yaml:2:1', 'x.yaml:11:1'],
  );
});

test('FILES-1 JSON is parsed, and defaults are filled in', async () => {
  const file = await parse(JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } }));
  assert.deepEqual([...file.manifests.keys()], ['Node a']);
  const web = (await parse(WEB)).manifests.get('Service default/web')?.object;
  assert.ok(web?.kind === 'Service');
  assert.equal(web.spec.type, 'ClusterIP');
});

test('FILES-1 an object in a List has its own place', async () => {
  const file = await parse(`apiVersion: v1\nkind: List\nitems:\n- ${WEB.trimEnd().replaceAll('\n', '\n  ')}\n`);
  assert.equal(file.manifests.get('Service default/web')?.where, 'x.yaml:4:3');
});

test('FILES-1 empty texts, comments, empty documents and other kinds give neither objects nor problems', async () => {
  for (const text of [
    '',
    '\n',
    '# nothing\n',
    '---\n---\n',
    'null',
    '---\n# x\n...\n',
    'apiVersion: v1\nkind: Pod\n',
  ]) {
    const { ignored, ...file } = await parse(text);
    assert.deepEqual(file, { manifests: new Map(), problems: [], isBroken: false }, JSON.stringify(text));
    assert.deepEqual(ignored, text.includes('Pod') ? ['Pod'] : []);
  }
});

const broken: [string, string, string][] = [
  ['a tab as indentation', 'a:\n\tb: 1\n', 'x.yaml:2:1 | Tabs are not allowed as indentation'],
  [
    'an open bracket',
    'a: [1, 2\n',
    'x.yaml:2:1 | Flow sequence in block collection must be sufficiently indented and end with a ]',
  ],
  ['a key twice', 'a: 1\nb: 2\na: 3\n', 'x.yaml:3:1 | has the key a twice: remove one'],
  ['an alias without an anchor', 'a: *b\n', 'x.yaml:1:4 | the alias *b has no anchor &b that ends before it'],
  [
    'an alias to a value that contains it',
    'a: &a\n  b: *a\n',
    'x.yaml:2:6 | the alias *a has no anchor &a that ends before it',
  ],
  [
    'a merge key',
    'a: &a {b: 1}\nc:\n  <<: *a\n',
    'x.yaml:3:3 | merge keys (<<) are not supported: write the fields out',
  ],
  ['a directive without a document', '%TAG\n', 'x.yaml:1:1 | %TAG directive should contain exactly two parts'],
  ['a map as a key', '? {a: 1}\n: 2\n', 'x.yaml:1:3 | a key must be plain text'],
];
for (const [name, text, want] of broken) {
  test(`FILES-3 ${name} is a problem with its place, and the file is broken`, async () => {
    const file = await parse(text);
    assert.equal(file.isBroken, true);
    assert.equal((await problems(text))[0], want);
  });
}

test('FILES-3 documents after a broken one are not read', async () => {
  const file = await parse(`${WEB}---\na: 1\na: 2\n---\nb: 1\nb: 2\n`);
  assert.equal(file.isBroken, true);
  assert.deepEqual(
    file.problems.map(problem => problem.where),
    ['x.yaml:10:1'],
  );
});

test('FILES-1 an alias means the value of its anchor', async () => {
  const file = await parse(
    `apiVersion: v1\nkind: List\nitems:\n- &web\n  ${WEB.trimEnd().replaceAll('\n', '\n  ')}\n- *web\n`,
  );
  assert.equal(file.manifests.size, 1);
  assert.deepEqual(
    file.problems.map(problem => problem.message),
    ['is also at x.yaml:5:3, which is used: remove one'],
  );
});

test('FILES-7 a few lines of aliases that stand for billions of values are refused quickly', async () => {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 12; i++)
    lines.push(
      `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
    );
  const start = performance.now();
  assert.match((await problems(lines.join('\n')))[0] ?? '', /has aliases that stand for too many values/);
  assert.ok(performance.now() - start < 1000);
});

const TOO_DEEP = 'is nested deeper than 256 levels: remove the levels that the file does not need';
const nested: [name: string, text: string, place: string][] = [
  ['brackets that never close', '['.repeat(100_000), '1:257'],
  ['brackets that close', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, '1:257'],
  ['JSON', `\n${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, '2:1281'],
  ['JSON that is too long for YAML', `\n${'['.repeat(5 << 20)}`, '2:257'],
  ['dashes', `${'- '.repeat(100_000)}a`, '1:513'],
  ['question marks', `${'? '.repeat(100_000)}a`, '1:513'],
  ['indented keys', Array.from({ length: 2000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'), '257:258'],
];
for (const [name, text, place] of nested) {
  test(`FILES-8 nesting without end is refused with its place: ${name}`, async () => {
    assert.deepEqual(await problems(text), [`x.yaml:${place} | ${TOO_DEEP}`]);
    if (name.includes('too long')) return;
    const file = await parse(`${WEB}---${text.startsWith('\n') ? '' : '\n'}${text}`);
    assert.deepEqual([...file.manifests.keys()], ['Service default/web']);
    assert.equal(file.isBroken, true);
  });
}

test('FILES-8 aliases cannot nest values without end', async () => {
  const lines = Array.from({ length: 5000 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}]`);
  assert.deepEqual(await problems(['a0: &a0 [1]', ...lines].join('\n')), [`x.yaml:256:14 | ${TOO_DEEP}`]);
});

test('FILES-8 256 levels are not too many, and long texts are not deep', async () => {
  const texts = [
    `[${Array(70_000).fill('1').join(', ')}]`,
    '- a\n'.repeat(70_000),
    `- a\n${'# comment\n'.repeat(200_000)}- b\n${'\n'.repeat(200_000)}`,
    `${'['.repeat(256)}${']'.repeat(256)}`,
    `${'- '.repeat(256)}a`,
    `[${'"[[[[",'.repeat(1000)} '[{', "\\"[{"]`,
  ];
  for (const text of texts) {
    assert.deepEqual(await problems(text), ['x.yaml:1:1 | is a list, but must be a map with apiVersion and kind']);
  }
  assert.match((await problems(`a: ${'x'.repeat(1 << 20)}`))[0] ?? '', /kind \| is missing/);
});

test('FILES-7 a map with very many keys does not take very long', async () => {
  const text = Array.from({ length: 20_000 }, (_, i) => `k${i}: 1`).join('\n');
  const start = performance.now();
  assert.match((await problems(text))[0] ?? '', /kind \| is missing/);
  assert.ok(performance.now() - start < 5000);
});

test('FILES-3 every problem of an object has the place of its field', async () => {
  const text = WEB.replace('port: 80', 'port: 80\n    protocol: tcp\n  - port: "80"').replace(
    '{name: web}',
    '{name: web, namespace: 1}',
  );
  assert.deepEqual(await problems(text), [
    'x.yaml:3:34 | metadata.namespace | is the number 1, but must be text: put it in quotes',
    'x.yaml:8:15 | spec.ports[0].protocol | is the text "tcp", but must be TCP, UDP or SCTP',
    'x.yaml:9:11 | spec.ports[1].port | is the text "80", but must be a whole number from 1 to 65535: remove the quotes',
  ]);
});

test('FILES-3 the problem of a missing field has the place of the map around it', async () => {
  assert.deepEqual(await problems('apiVersion: v1\nkind: Service\nmetadata:\n  namespace: a\n'), [
    'x.yaml:4:3 | metadata.name | is missing: give the object a name',
  ]);
});

test('FILES-3 problems in JSON have places too', async () => {
  assert.deepEqual(await problems('{\n "apiVersion": "v1",\n "kind": "Node",\n "metadata": {"name": 5}\n}'), [
    'x.yaml:4:23 | metadata.name | is the number 5, but must be text: put it in quotes',
  ]);
});

test('FILES-3 a place in JSON is right whatever stands before it, and a missing field has that of the map around it', async () => {
  const odd = '"\\"[{": [1, -2.5e3, true, {}, [], "a\\\\", {"x": "]}"}], "": null,';
  const items = [
    '{"kind": "Namespace"}',
    `{${odd} "kind": "Node", "apiVersion": "v1",\n\t"metadata" : { "labels": 5 }\n}`,
  ];
  assert.deepEqual(await problems(`\n{"items": [\n${items.join(' ,\n')}\n], "kind": "List", "apiVersion": "v1"}`), [
    'x.yaml:5:15 | metadata.name | is missing: give the object a name',
    'x.yaml:5:27 | metadata.labels | is the number 5, but must be a map',
  ]);
});

test('FILES-3 many problems in a long list of JSON are found in a short time', async () => {
  const items = Array.from({ length: 20_000 }, (_, i) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name: i } }));
  const start = performance.now();
  const found = await problems(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, undefined, 1));
  assert.equal(found.length, 20_000);
  assert.match(found.at(-1) ?? '', /^x\.yaml:140002:13 \| metadata\.name/);
  assert.ok(performance.now() - start < 10_000);
});

test('FILES-10 a YAML document that would take too much memory is refused, and many small ones are not', async () => {
  const parseWith = async (text: string, memory: number) => {
    const kinds: string[] = [];
    for await (const parsed of parseYaml(text, memory)) kinds.push(parsed.kind === 'error' ? parsed.message : 'value');
    return kinds;
  };
  const MIB = 1 << 20;
  const refused = ['has a YAML document that takes too much memory: split it, or write it as JSON'];
  assert.deepEqual(await parseWith(`[${'1,'.repeat(100_000)}]`, 256 * MIB), refused);
  assert.deepEqual(await parseWith(`[${'1,'.repeat(100_000)}]`, 512 * MIB), ['value']);
  assert.deepEqual(await parseWith('---\n[1, 2, 3]\n'.repeat(1000), MIB), Array(1000).fill('value'));
  assert.deepEqual(await parseWith(`a: 1\n---\n${'- a\n'.repeat(1000)}`, MIB), ['value', ...refused]);
});

test('FILES-7 a long JSON text is parsed, a long YAML text is refused', async () => {
  const padding = 'x'.repeat(5 << 20);
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' }, padding };
  assert.deepEqual([...(await parse(JSON.stringify(node))).manifests.keys()], ['Node a']);
  assert.deepEqual(await problems(JSON.stringify({ ...node, metadata: { name: 1 } })), [
    'x.yaml:1:53 | metadata.name | is the number 1, but must be text: put it in quotes',
  ]);
  const yaml = await parse(`${WEB}padding: ${padding}`);
  assert.equal(yaml.isBroken, true);
  assert.match(yaml.problems[0]?.message ?? '', /too long for YAML \(the limit is 4 MiB\): split it/);
});

const invalid: [string, string, string][] = [
  ['type: Clusterip', 'spec.type', 'is "Clusterip", but must be ClusterIP, NodePort, LoadBalancer or ExternalName'],
  ['sessionAffinity: clientIP', 'spec.sessionAffinity', 'is "clientIP", but must be None or ClientIP'],
  ['externalTrafficPolicy: local', 'spec.externalTrafficPolicy', 'is "local", but must be Cluster or Local'],
  ['internalTrafficPolicy: Node', 'spec.internalTrafficPolicy', 'is "Node", but must be Cluster or Local'],
  ['ipFamilies: [IPv4, ipv6]', 'spec.ipFamilies[1]', 'is "ipv6", but must be IPv4 or IPv6'],
  [
    'sessionAffinity: ClientIP\n  sessionAffinityConfig: {clientIP: {timeoutSeconds: 86401}}',
    'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
    'is 86401, but must be from 1 to 86400',
  ],
];
for (const [line, field, message] of invalid) {
  test(`FILES-3 a value that an API server would refuse is refused: ${line.split('\n')[0]}`, async () => {
    const [problem, ...others] = (await parse(`${WEB}  ${line}\n`)).problems;
    assert.deepEqual(others, []);
    assert.equal(problem?.object, 'Service default/web');
    assert.equal(problem.field, field);
    assert.equal(problem.message, message);
  });
}

test('FILES-3 ports of a Service with the same name or number are refused', async () => {
  const ports =
    '- {name: a, port: 80}\n  - {name: a, port: 81}\n  - {port: 82}\n  - {name: d, port: 80}\n  - {name: e, port: 80, protocol: UDP}';
  assert.deepEqual(await problems(WEB.replace('- port: 80', ports)), [
    'x.yaml:8:12 | Service default/web | spec.ports[1].name | is a, which another port has too: give each port its own name',
    'x.yaml:9:5 | Service default/web | spec.ports[2].name | is missing: if there is more than one port, each needs a name',
    'x.yaml:10:21 | Service default/web | spec.ports[3].port | is 80/TCP, which another port has too: remove one of the two',
  ]);
});

test('FILES-3 a Service without a cluster IP is refused, because nothing allocates one', async () => {
  assert.deepEqual(await problems(WEB.replace('  clusterIP: 10.0.0.1\n', '')), [
    'x.yaml:5:3 | Service default/web | spec.clusterIP | is missing, and nothing allocates one for manifests: write an address, or None for a headless Service',
  ]);
});

test('FILES-3 an unknown ipMode and an unknown address type are refused', async () => {
  assert.match(
    (await problems(`${WEB}status: {loadBalancer: {ingress: [{ip: 1.2.3.4, ipMode: vip}]}}`))[0] ?? '',
    /ipMode \| is "vip"/,
  );
  const slice = 'apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: a}\n';
  assert.match((await problems(slice))[0] ?? '', /addressType \| is missing: write IPv4, IPv6 or FQDN/);
  assert.match((await problems(`${slice}addressType: IP\n`))[0] ?? '', /addressType \| is "IP"/);
});

const sliceAt = (address: string, type = 'IPv4') =>
  `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}
addressType: ${type}
endpoints: [{addresses: ['${address}']}]
`;

const REFUSED_ENDPOINTS: [address: string, type: string, message: RegExp][] = [
  ['127.0.0.1', 'IPv4', /"127.0.0.1", but may not be in the loopback range \(127.0.0.0\/8, ::1\/128\)/],
  ['127.9.9.9', 'IPv4', /loopback/],
  ['::1', 'IPv6', /loopback/],
  ['169.254.169.254', 'IPv4', /may not be in the link-local range \(169.254.0.0\/16, fe80::\/10\)/],
  ['fe80::1', 'IPv6', /link-local/],
  ['0.0.0.0', 'IPv4', /may not be unspecified \(0.0.0.0 or ::\)/],
  ['::', 'IPv6', /unspecified/],
  ['224.0.0.1', 'IPv4', /multicast/],
  ['239.1.2.3', 'IPv4', /multicast/],
  ['ff02::1', 'IPv6', /multicast/],
  ['fd00::5', 'IPv4', /"fd00::5", but must be an IPv4 address/],
  ['10.0.0.1', 'IPv6', /must be an IPv6 address/],
  ['::ffff:10.0.0.1', 'IPv6', /must be an IPv6 address/],
  ['web.example.com', 'IPv4', /must be a valid IP address/],
  ['', 'IPv4', /must be a valid IP address/],
];
for (const [address, type, message] of REFUSED_ENDPOINTS) {
  test(`FILES-9 an endpoint at ${JSON.stringify(address)} in a slice of type ${type} is refused`, async () => {
    const [problem = '', ...others] = await problems(sliceAt(address, type));
    assert.match(problem, message);
    assert.match(problem, /EndpointSlice default\/web-1 \| endpoints\[0\]\.addresses\[0\]/);
    assert.deepEqual(others, []);
  });
}

test('FILES-9 an endpoint without an address is refused', async () => {
  const text = sliceAt('').replace("['']", '[]');
  assert.match((await problems(text))[0] ?? '', /endpoints\[0\]\.addresses \| must contain at least 1 address/);
});

test('FILES-9 the operator can allow loopback and link-local endpoints, but no others', async () => {
  const count = async (address: string, type: string) =>
    (await parseManifests(sliceAt(address, type), 'x.yaml', { allowLoopbackEndpoints: true })).problems.length;
  for (const [address, type, message] of REFUSED_ENDPOINTS) {
    const isAllowed = /loopback|link-local/.test(message.source);
    assert.equal(await count(address, type), isAllowed ? 0 : 1, address);
  }
});

const REFUSED_SERVICES: [what: string, spec: string, problem: RegExp][] = [
  ['a cluster IP that is no address', 'clusterIP: ten', /spec\.clusterIP \| is "ten", but must be a valid IP/],
  [
    'a cluster IP of another family than ipFamilies says',
    'clusterIP: fd00::1\n  ipFamilies: [IPv4]',
    /spec\.clusterIP \| is "fd00::1", but must be an IPv4 address/,
  ],
  [
    'a clusterIP that is not the first of clusterIPs',
    'clusterIP: 10.96.0.1\n  clusterIPs: [10.96.0.2]',
    /spec\.clusterIP \| is "10.96.0.1", but must be the first of spec.clusterIPs/,
  ],
  [
    'an external IP in the loopback range',
    'clusterIP: 10.96.0.1\n  externalIPs: [1.2.3.4, 127.0.0.1]',
    /spec\.externalIPs\[1\] \| is "127.0.0.1", but may not be in the loopback range/,
  ],
  ['an external IP that is no address', 'clusterIP: 10.96.0.1\n  externalIPs: [x]', /spec\.externalIPs\[0\]/],
  [
    'a source range that is no CIDR',
    'clusterIP: 10.96.0.1\n  loadBalancerSourceRanges: [10.0.0.0/8, 10.0.0.1]',
    /spec\.loadBalancerSourceRanges\[1\] \| is "10.0.0.1", but must be a CIDR/,
  ],
];
for (const [what, spec, problem] of REFUSED_SERVICES) {
  test(`FILES-9 a Service with ${what} is refused`, async () => {
    const text = `apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  ${spec}\n`;
    const found = await problems(text);
    assert.equal(found.length, 1);
    assert.match(found[0] ?? '', problem);
  });
}

test('FILES-9 a load-balancer IP that is no address is refused', async () => {
  const [problem = ''] = await problems(`${WEB}status: {loadBalancer: {ingress: [{ip: x}]}}`);
  assert.match(problem, /status\.loadBalancer\.ingress\[0\]\.ip \| is "x"/);
});

test('FILES-9 names of nodes and zones in a slice must be names', async () => {
  const text = sliceAt('10.0.0.1').replace(
    "['10.0.0.1']",
    '$&, nodeName: "a\\n", hints: {forZones: [{name: "a b"}], forNodes: [{name: A}]}',
  );
  assert.deepEqual(
    (await parse(text)).problems.map(({ field }) => field),
    ['nodeName', 'hints.forZones[0].name', 'hints.forNodes[0].name'].map(field => `endpoints[0].${field}`),
  );
});

test('API-2 a name with a quote and a line feed is refused, with its object and field', async () => {
  const text = WEB.replace('name: web', String.raw`name: "x\"\n-A KUBE-SERVICES -j ACCEPT"`);
  const { manifests, problems: found } = await parse(text);
  assert.equal(manifests.size, 0);
  assert.equal(found[0]?.field, 'metadata.name');
});

test('FILES-7 no text causes an exception', async () => {
  const yamlish = fc
    .array(
      fc.constantFrom(
        '- ',
        ': ',
        '? ',
        '[',
        ']',
        '{',
        '}',
        '&a ',
        '*a',
        '!!',
        '|\n',
        '>',
        '"',
        "'",
        '#',
        '\n',
        '  ',
        '\t',
        '%',
        '---\n',
        '...\n',
        'a',
        'kind: Service\n',
        'apiVersion: v1\n',
        'spec:\n',
        'metadata:\n',
        '<<',
        ',',
        '@',
        '`',
        '\\',
        '\u0000',
        '\ud800',
      ),
      { maxLength: 40 },
    )
    .map(parts => parts.join(''));
  const mutated = fc
    .tuple(fc.nat(DUAL_STACK.length), fc.nat(20), fc.string({ maxLength: 5 }))
    .map(([at, cut, insert]) => DUAL_STACK.slice(0, at) + insert + DUAL_STACK.slice(at + cut));
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string({ unit: 'binary' }), yamlish, mutated, fc.json()), async text => {
      const file = await parse(text);
      for (const problem of file.problems) assert.match(problem.where ?? '', /^x\.yaml/);
      if (file.isBroken) assert.ok(file.problems.length > 0);
    }),
    { numRuns: 300 },
  );
});

test('FILES-7 texts that are hard to parse end soon, and the stack trace limit stays as it was', async () => {
  const start = performance.now();
  const { stackTraceLimit } = Error;
  for (const unit of ['[', '{', '- ', '? ', ': ', '"', ']', '& ', '! ', '*a ', '%\n', 'a: ', '---\n', '[a,\n']) {
    await parse(unit.repeat(3000));
  }
  assert.ok(performance.now() - start < 10_000);
  assert.ok(stackTraceLimit > 0);
  assert.equal(Error.stackTraceLimit, stackTraceLimit);
});
