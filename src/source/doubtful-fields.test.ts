import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseManifests } from './parse-manifests.ts';

const cases: readonly [spec: string, expected: readonly string[]][] = [
  [
    'type: NodePort, ports: [{port: 80}]',
    ['spec.ports[0].nodePort is missing, and nothing allocates one for manifests: write a port'],
  ],
  [
    'ports: [{port: 80, nodePort: 30080}]',
    ['spec.ports[0].nodePort is 30080, which an API server refuses for the type ClusterIP: write type NodePort'],
  ],
  [
    'externalTrafficPolicy: Local, ports: [{port: 80}]',
    [
      'spec.externalTrafficPolicy is Local, which an API server refuses for the type ClusterIP without external addresses: did you mean internalTrafficPolicy?',
    ],
  ],
  [
    'externalTrafficPolicy: Cluster, ports: [{port: 80}]',
    [
      'spec.externalTrafficPolicy is Cluster, which an API server refuses for the type ClusterIP without external addresses: remove it',
    ],
  ],
  [
    'loadBalancerSourceRanges: [10.0.0.0/8], ports: [{port: 80}]',
    ['spec.loadBalancerSourceRanges has no effect: an API server refuses it for the type ClusterIP'],
  ],
  [
    'sessionAffinityConfig: {clientIP: {timeoutSeconds: 5}}, ports: [{port: 80}]',
    ['spec.sessionAffinityConfig has no effect without sessionAffinity ClientIP: write it too'],
  ],
  ['type: NodePort, externalTrafficPolicy: Local, ports: [{port: 80, nodePort: 30080}]', []],
  ['externalIPs: [203.0.113.1], externalTrafficPolicy: Local, ports: [{port: 80}]', []],
  ['type: LoadBalancer, loadBalancerSourceRanges: [10.0.0.0/8], ports: [{port: 80}]', []],
  ['sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 5}}, ports: [{port: 80}]', []],
];
for (const [spec, expected] of cases) {
  test(`FILES-22 {${spec}} ${expected.length > 0 ? 'is doubtful' : 'is fine'}, and the Service is used`, async () => {
    const text = `apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {clusterIP: 10.96.0.1, ${spec}}\n`;
    const { manifests, problems } = await parseManifests(text, 'x');
    assert.deepEqual(
      problems.map(({ field, message }) => `${field} ${message}`),
      expected,
    );
    assert.equal(manifests.size, 1);
  });
}
