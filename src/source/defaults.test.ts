import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeObject, type EndpointSlice, type Service, type ServiceSpec } from '../api/index.ts';
import { withDefaults } from './defaults.ts';

function service(spec: object, status: object = {}, metadata: object = {}): Service {
  const value = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', ...metadata }, spec, status };
  const result = decodeObject(value);
  assert.ok(result.kind === 'object');
  const object = withDefaults(result.object);
  assert.ok(object.kind === 'Service');
  return object;
}

function slice(fields: object): EndpointSlice {
  const value = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata: { name: 'a' }, ...fields };
  const result = decodeObject(value);
  assert.ok(result.kind === 'object');
  const object = withDefaults(result.object);
  assert.ok(object.kind === 'EndpointSlice');
  return object;
}

test('FILES-2 an empty Service gets the defaults of an API server', () => {
  const { metadata, spec } = service({ ports: [{ port: 80 }] });
  assert.equal(metadata.namespace, 'default');
  assert.deepEqual(spec, {
    type: 'ClusterIP',
    clusterIP: '',
    clusterIPs: [],
    ipFamilies: [],
    ports: [{ name: '', protocol: 'TCP', port: 80, nodePort: 0, targetPort: undefined }],
    hasSelector: false,
    externalIPs: [],
    loadBalancerSourceRanges: [],
    sessionAffinity: 'None',
    sessionAffinityTimeoutSeconds: undefined,
    externalTrafficPolicy: '',
    internalTrafficPolicy: 'Cluster',
    healthCheckNodePort: 0,
  });
});

const rows: [string, object, Partial<ServiceSpec>][] = [
  [
    'clusterIP fills clusterIPs and ipFamilies',
    { clusterIP: '10.0.0.1' },
    { clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'] },
  ],
  [
    'clusterIPs fill clusterIP and ipFamilies, in their order',
    { clusterIPs: ['fd00::1', '10.0.0.1'] },
    { clusterIP: 'fd00::1', ipFamilies: ['IPv6', 'IPv4'] },
  ],
  ['given ipFamilies stay', { clusterIP: '10.0.0.1', ipFamilies: ['IPv4', 'IPv6'] }, { ipFamilies: ['IPv4', 'IPv6'] }],
  ['None is not an address and gives no family', { clusterIP: 'None' }, { clusterIPs: ['None'], ipFamilies: [] }],
  ['a text that is not an address gives no families', { clusterIPs: ['10.0.0.1', 'x'] }, { ipFamilies: [] }],
  ['ClientIP affinity lasts three hours', { sessionAffinity: 'ClientIP' }, { sessionAffinityTimeoutSeconds: 10800 }],
  [
    'a given affinity timeout stays',
    { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
    { sessionAffinityTimeoutSeconds: 5 },
  ],
  [
    'a timeout without affinity is dropped',
    { sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
    { sessionAffinityTimeoutSeconds: undefined },
  ],
  ['a NodePort Service has an external policy', { type: 'NodePort' }, { externalTrafficPolicy: 'Cluster' }],
  ['a LoadBalancer Service has an external policy', { type: 'LoadBalancer' }, { externalTrafficPolicy: 'Cluster' }],
  [
    'a ClusterIP Service with external IPs has an external policy',
    { externalIPs: ['1.2.3.4'] },
    { externalTrafficPolicy: 'Cluster' },
  ],
  [
    'a given external policy stays',
    { type: 'NodePort', externalTrafficPolicy: 'Local' },
    { externalTrafficPolicy: 'Local' },
  ],
  ['a given internal policy stays', { internalTrafficPolicy: 'Local' }, { internalTrafficPolicy: 'Local' }],
  [
    'an ExternalName Service has neither policy',
    { type: 'ExternalName', externalIPs: ['1.2.3.4'] },
    { internalTrafficPolicy: undefined, externalTrafficPolicy: '' },
  ],
];
for (const [name, spec, want] of rows) {
  test(`FILES-2 ${name}`, () => assert.deepEqual({ ...service(spec).spec, ...want }, service(spec).spec));
}

test('FILES-2 the default ipMode of a load-balancer address is VIP, for LoadBalancer Services only', () => {
  const status = {
    loadBalancer: { ingress: [{ ip: '1.2.3.4' }, { ip: '1.2.3.5', ipMode: 'Proxy' }, { hostname: 'x' }] },
  };
  const modes = (type: string) => service({ type }, status).status.loadBalancer.ingress.map(({ ipMode }) => ipMode);
  assert.deepEqual(modes('LoadBalancer'), ['VIP', 'Proxy', undefined]);
  assert.deepEqual(modes('ClusterIP'), [undefined, 'Proxy', undefined]);
});

test('FILES-2 a given namespace stays', () => {
  assert.equal(service({}, {}, { namespace: 'shop' }).metadata.namespace, 'shop');
});

test('FILES-2 an EndpointSlice gets a namespace, and ports without a name get the empty name', () => {
  const { metadata, ports } = slice({ addressType: 'IPv4', ports: [{ port: 80 }, { name: 'b', port: 81 }, {}] });
  assert.equal(metadata.namespace, 'default');
  assert.deepEqual(ports, [
    { name: '', protocol: 'TCP', port: 80 },
    { name: 'b', protocol: 'TCP', port: 81 },
    { name: '', protocol: 'TCP', port: undefined },
  ]);
});

test('FILES-2 Nodes and ServiceCIDRs have no namespace', () => {
  const result = decodeObject({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } });
  assert.ok(result.kind === 'object');
  assert.equal(withDefaults(result.object).metadata.namespace, '');
});
