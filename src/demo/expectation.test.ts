import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { demoRows } from '../../test/support/demo-rows.ts';
import { service, slice } from '../../test/support/objects.ts';
import { callerFrom, PLACES } from './caller.ts';
import { type Expectation, expectationOf } from './expectation.ts';

/** The calling pod itself, another pod of the node, and one elsewhere. */
const self = { ip: '10.244.1.10', nodeName: 'node-a' };
const neighbour = { ip: '10.244.1.11', nodeName: 'node-a' };
const remote = { ip: '10.244.2.10', nodeName: 'node-b' };

type Overrides = Parameters<typeof service>[1];

/** What pod, node and outside get at the Service's last address. */
function expectations(overrides: Overrides, endpoints: Parameters<typeof slice>[1]): readonly string[] {
  const row = demoRows([service('s', overrides), slice('s-1', endpoints)]).at(-1);
  assert.ok(row);
  return PLACES.map(place =>
    describeExpectation(expectationOf(row.port.plan, row.frontend, callerFrom(place, row.port.family))),
  );
}

function describeExpectation(expected: Expectation): string {
  if (expected.kind !== 'answered') return expected.kind;
  const by = [...expected.by].map(([endpoint, seenAs]) => `${endpoint.replace(/:8080$/, '')} ${seenAs}`);
  return `${by.join(', ')}${expected.sticky ? ', sticky' : ''}`;
}

const nodePort = { type: 'NodePort', ports: [{ nodePort: 30080 }] } as const;
const balancer = { type: 'LoadBalancer', ingress: [{ ip: '203.0.113.1' }] };
const local = { externalTrafficPolicy: 'Local' };

const cases: readonly {
  readonly what: string;
  readonly service: Overrides;
  readonly endpoints: Parameters<typeof slice>[1];
  readonly pod: string;
  readonly node: string;
  readonly outside: string;
}[] = [
  {
    what: 'a cluster IP shows pods as themselves and everyone else as the node',
    service: {},
    endpoints: [neighbour, remote],
    pod: '10.244.1.11 itself, 10.244.2.10 itself',
    node: '10.244.1.11 node, 10.244.2.10 node',
    outside: '10.244.1.11 node, 10.244.2.10 node',
  },
  {
    what: 'a pod that meets itself is seen as the node',
    service: {},
    endpoints: [self, remote],
    pod: '10.244.1.10 node, 10.244.2.10 itself',
    node: '10.244.1.10 node, 10.244.2.10 node',
    outside: '10.244.1.10 node, 10.244.2.10 node',
  },
  {
    what: 'a node port with policy Cluster masquerades everyone',
    service: nodePort,
    endpoints: [neighbour, remote],
    pod: '10.244.1.11 node, 10.244.2.10 node',
    node: '10.244.1.11 node, 10.244.2.10 node',
    outside: '10.244.1.11 node, 10.244.2.10 node',
  },
  {
    what: 'policy Local keeps the address of who is outside; pods and the node go to all endpoints',
    service: { ...nodePort, ...local },
    endpoints: [neighbour, remote],
    pod: '10.244.1.11 itself, 10.244.2.10 itself',
    node: '10.244.1.11 node, 10.244.2.10 node',
    outside: '10.244.1.11 itself',
  },
  {
    what: 'policy Local without a local endpoint is silent to the outside only',
    service: { ...nodePort, ...local },
    endpoints: [remote],
    pod: '10.244.2.10 itself',
    node: '10.244.2.10 node',
    outside: 'silent',
  },
  {
    what: 'internal policy Local without a local endpoint is silent to all',
    service: { internalTrafficPolicy: 'Local' },
    endpoints: [remote],
    pod: 'silent',
    node: 'silent',
    outside: 'silent',
  },
  {
    what: 'no endpoints: refused',
    service: nodePort,
    endpoints: [],
    pod: 'refused',
    node: 'refused',
    outside: 'refused',
  },
  {
    what: 'source ranges that hold the machines but not the pods',
    service: { ...balancer, loadBalancerSourceRanges: ['192.168.0.0/24'] },
    endpoints: [neighbour],
    pod: 'silent',
    node: '10.244.1.11 node',
    outside: '10.244.1.11 node',
  },
  {
    what: 'source ranges that hold the pods only, with policy Local',
    service: { ...balancer, ...local, healthCheckNodePort: 30999, loadBalancerSourceRanges: ['10.244.0.0/16'] },
    endpoints: [neighbour],
    pod: '10.244.1.11 itself',
    node: 'silent',
    outside: 'silent',
  },
  {
    what: 'source ranges come before the refusal',
    service: { ...balancer, loadBalancerSourceRanges: ['10.244.0.0/16'] },
    endpoints: [],
    pod: 'refused',
    node: 'silent',
    outside: 'silent',
  },
  {
    what: 'session affinity',
    service: { sessionAffinity: 'ClientIP' },
    endpoints: [neighbour, remote],
    pod: '10.244.1.11 itself, 10.244.2.10 itself, sticky',
    node: '10.244.1.11 node, 10.244.2.10 node, sticky',
    outside: '10.244.1.11 node, 10.244.2.10 node, sticky',
  },
  {
    what: 'IPv6',
    service: { clusterIP: 'fd00:10:96::1' },
    endpoints: [{ ip: 'fd00:10:244:1::10', nodeName: 'node-a' }],
    pod: '[fd00:10:244:1::10] node',
    node: '[fd00:10:244:1::10] node',
    outside: '[fd00:10:244:1::10] node',
  },
];

describe('what a connection should get', () => {
  for (const { what, service, endpoints, ...want } of cases) {
    test(`DEMO-2 ${what}`, () => {
      const [pod, node, outside] = expectations(service, endpoints);
      assert.deepEqual({ pod, node, outside }, want);
    });
  }
});
