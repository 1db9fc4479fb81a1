import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ManifestFile, parseManifests } from './parse-manifests.ts';

const WEB = `apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  clusterIP: 10.96.0.10
  ports:
  - name: http
    port: 80
`;
const SLICE = `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: web-1
  labels: {kubernetes.io/service-name: web}
addressType: IPv4
endpoints:
- addresses: [10.244.1.2]
`;

const texts = ({ problems }: ManifestFile) =>
  problems.map(({ where, object, field, message }) => `${where} ${object ?? '-'} ${field}: ${message}`);

const cases: readonly [title: string, text: string, expected: string][] = [
  [
    'a field with a wrong letter',
    WEB.replace('port: 80', 'port: 80\n    targetport: 8080'),
    'x:10:5 Service default/web spec.ports[0].targetport: is no field of a Service in Kubernetes v1.37: did you mean targetPort?',
  ],
  [
    'a map, at the line of its name',
    WEB.replace('spec:', 'spec:\n  selectors:\n    app: web'),
    'x:6:3 Service default/web spec.selectors: is no field of a Service in Kubernetes v1.37: did you mean selector?',
  ],
  [
    'a field in the wrong map',
    `${WEB}externalTrafficPolicy: Local\n`,
    'x:10:1 Service default/web externalTrafficPolicy: is no field of a Service in Kubernetes v1.37: did you mean spec.externalTrafficPolicy?',
  ],
  [
    'a field that is like no other',
    WEB.replace('spec:', 'spec:\n  colour: red'),
    'x:6:3 Service default/web spec.colour: is no field of a Service in Kubernetes v1.37: remove it',
  ],
  [
    'metadata',
    WEB.replace('name: web', 'name: web\n  label: {app: web}'),
    'x:5:3 Service default/web metadata.label: is no field of a Service in Kubernetes v1.37: did you mean labels?',
  ],
  [
    'an endpoint',
    SLICE.replace('- addresses', '- nodename: node-a\n  addresses'),
    'x:8:3 EndpointSlice default/web-1 endpoints[0].nodename: is no field of an EndpointSlice in Kubernetes v1.37: did you mean nodeName?',
  ],
  [
    'an endpoint whose condition is not in conditions',
    SLICE.replace('- addresses', '- ready: false\n  addresses'),
    'x:8:3 EndpointSlice default/web-1 endpoints[0].ready: is no field of an EndpointSlice in Kubernetes v1.37: did you mean endpoints.conditions.ready?',
  ],
  [
    'a Node',
    'apiVersion: v1\nkind: Node\nmetadata: {name: a}\nspec: {podCidr: 10.0.0.0/24}\n',
    'x:4:8 Node a spec.podCidr: is no field of a Node in Kubernetes v1.37: did you mean podCIDR?',
  ],
  [
    'a ServiceCIDR',
    'apiVersion: networking.k8s.io/v1\nkind: ServiceCIDR\nmetadata: {name: a}\nspec: {cidr: [10.0.0.0/24]}\n',
    'x:4:8 ServiceCIDR a spec.cidr: is no field of a ServiceCIDR in Kubernetes v1.37: did you mean cidrs?',
  ],
  [
    'JSON',
    '{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"},\n"spac":{}}',
    'x:2:8 Node a spac: is no field of a Node in Kubernetes v1.37: did you mean spec?',
  ],
  [
    'a name that every object of JavaScript has',
    WEB.replace('spec:', 'spec:\n  constructor: red'),
    'x:6:3 Service default/web spec.constructor: is no field of a Service in Kubernetes v1.37: remove it',
  ],
];
for (const [title, text, expected] of cases) {
  test(`FILES-20 an unknown field is a problem, and the object is used: ${title}`, async () => {
    const file = await parseManifests(text, 'x');
    assert.deepEqual(texts(file), [expected]);
    assert.equal(file.problems[0]?.reason, 'doubtful');
    assert.equal(file.manifests.size, 1);
  });
}

test('FILES-20 an unknown field comes before the problem that it causes', async () => {
  const file = await parseManifests(WEB.replace('clusterIP', 'clusterIp'), 'x');
  assert.equal(file.manifests.size, 0);
  assert.deepEqual(
    file.problems.map(({ field }) => field),
    ['spec.clusterIp', 'spec.clusterIP'],
  );
  const port = await parseManifests(WEB.replace('port: 80', 'prt: 80'), 'x');
  assert.deepEqual(
    port.problems.map(({ field }) => field),
    ['spec.ports[0].prt', 'spec.ports[0].port'],
  );
});

test('FILES-20 labels, annotations and fields that a proxy does not use are known', async () => {
  const text = `${WEB.replace('name: web', 'name: web\n  annotations: {a/b: c}\n  managedFields: [{fieldsV1: {"f:spec": {}}}]')}  publishNotReadyAddresses: true
  selector: {anything: goes}
status: {loadBalancer: {ingress: [{ip: 203.0.113.1, ports: [{port: 1, protocol: TCP}]}]}, conditions: null}
`;
  assert.deepEqual(texts(await parseManifests(text, 'x')), []);
});

const kinds: readonly [text: string, expected: readonly string[]][] = [
  ['apiVersion: v1\nkind: Servce\n', ['x:2:7 - kind: is Servce: did you mean Service?']],
  ['apiVersion: v1\nkind: service\n', ['x:2:7 - kind: is service: did you mean Service?']],
  ['kind: Nodes\n', ['x:1:7 - kind: is Nodes: did you mean Node?']],
  ['apiVersion: v1\nkind: ServicesList\nitems: []\n', ['x:2:7 - kind: is ServicesList: did you mean ServiceList?']],
  [
    'apiVersion: apps/v1\nkind: Service\n',
    ['x:1:13 - apiVersion: is apps/v1, but the kind Service is in v1: write v1'],
  ],
  [
    'apiVersion: v1\nkind: EndpointSlice\n',
    ['x:1:13 - apiVersion: is v1, but the kind EndpointSlice is in discovery.k8s.io/v1: write discovery.k8s.io/v1'],
  ],
  ['apiVersion: serving.knative.dev/v1\nkind: Service\n', []],
  ['apiVersion: apps/v1\nkind: DeploymentList\n', []],
  ['apiVersion: v1\nkind: PodList\n', []],
  ['apiVersion: v1\nkind: Endpoints\n', []],
  ['apiVersion: v1\nkind: Secret\n', []],
  ['apiVersion: example.com/v1\nkind: Nodes\n', []],
];
for (const [text, expected] of kinds) {
  test(`FILES-21 ${text.trim().replaceAll('\n', ', ')} ${expected.length > 0 ? 'is a problem' : 'is ignored'}`, async () => {
    const file = await parseManifests(text, 'x');
    assert.deepEqual(texts(file), expected);
    assert.equal(file.ignored.length, expected.length > 0 ? 0 : 1);
  });
}
