import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { address, demoContext, demoRows } from '../../../test/support/demo-rows.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { type ModeBehaviour, PLAN_BEHAVIOUR } from '../../modes/index.ts';
import type { Family } from '../../net/index.ts';
import type { Place } from '../caller.ts';
import type { Outcome } from '../outcome.ts';
import { frontendOutcome } from './frontend-outcome.ts';

const PLACES: readonly Place[] = ['pod', 'node', 'outside'];
const CALLERS: Readonly<Record<Place, Readonly<Record<Family, string>>>> = {
  pod: { IPv4: '10.244.1.10', IPv6: 'fd00:10:244:1::10' },
  node: { IPv4: '192.168.0.2', IPv6: 'fd00:192:168::2' },
  outside: { IPv4: '192.168.0.100', IPv6: 'fd00:192:168::100' },
};

/** The calling pod itself, another pod of the node, and a pod of another node. */
const self = { ip: '10.244.1.10', nodeName: 'node-a' };
const neighbour = { ip: '10.244.1.11', nodeName: 'node-a' };
const remote = { ip: '10.244.2.10', nodeName: 'node-b' };

type Overrides = Parameters<typeof service>[1];

/** How the Service's last address should answer callers in the pod, on the node and outside. */
function expectations(
  overrides: Overrides,
  endpoints: Parameters<typeof slice>[1],
  behaviour: Partial<ModeBehaviour> = {},
): readonly string[] {
  const row = demoRows([service('s', overrides), slice('s-1', endpoints)]).at(-1);
  assert.ok(row?.ip);
  const { family, plan, protocol } = row.port;
  const destination = { ip: row.ip, port: row.frontend.port, protocol };
  const context = { ...demoContext(family), mode: { behaviour: { ...PLAN_BEHAVIOUR, ...behaviour } } };
  return PLACES.map(place => {
    const caller = { place, ip: address(CALLERS[place][family]) };
    return describeOutcome(frontendOutcome({ plan, frontend: row.frontend }, { caller, destination }, context));
  });
}

function describeOutcome(outcome: Outcome): string {
  if (outcome.kind !== 'answered') return outcome.kind;
  const endpoints = outcome.endpoints.map(({ text, seenAs }) => `${text.replace(/:8080$/, '')} ${seenAs}`);
  return `${endpoints.join(', ')}${outcome.isSticky ? ', sticky' : ''}`;
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
    what: 'at a cluster IP, endpoints see pods as themselves and other callers as the node',
    service: {},
    endpoints: [neighbour, remote],
    pod: '10.244.1.11 itself, 10.244.2.10 itself',
    node: '10.244.1.11 node, 10.244.2.10 node',
    outside: '10.244.1.11 node, 10.244.2.10 node',
  },
  {
    what: 'a pod that reaches itself is seen as the node',
    service: {},
    endpoints: [self, remote],
    pod: '10.244.1.10 node, 10.244.2.10 itself',
    node: '10.244.1.10 node, 10.244.2.10 node',
    outside: '10.244.1.10 node, 10.244.2.10 node',
  },
  {
    what: 'a node port with policy Cluster masquerades all callers',
    service: nodePort,
    endpoints: [neighbour, remote],
    pod: '10.244.1.11 node, 10.244.2.10 node',
    node: '10.244.1.11 node, 10.244.2.10 node',
    outside: '10.244.1.11 node, 10.244.2.10 node',
  },
  {
    what: 'policy Local keeps the address of an outside caller; pods and the node reach all endpoints',
    service: { ...nodePort, ...local },
    endpoints: [neighbour, remote],
    pod: '10.244.1.11 itself, 10.244.2.10 itself',
    node: '10.244.1.11 node, 10.244.2.10 node',
    outside: '10.244.1.11 itself',
  },
  {
    what: 'policy Local without a local endpoint is silent to outside callers only',
    service: { ...nodePort, ...local },
    endpoints: [remote],
    pod: '10.244.2.10 itself',
    node: '10.244.2.10 node',
    outside: 'silent',
  },
  {
    what: 'internal policy Local without a local endpoint is silent to all callers',
    service: { internalTrafficPolicy: 'Local' },
    endpoints: [remote],
    pod: 'silent',
    node: 'silent',
    outside: 'silent',
  },
  {
    what: 'a frontend without endpoints refuses',
    service: nodePort,
    endpoints: [],
    pod: 'refused',
    node: 'refused',
    outside: 'refused',
  },
  {
    what: 'source ranges with the machines but not the pods are silent to pods only',
    service: { ...balancer, loadBalancerSourceRanges: ['192.168.0.0/24'] },
    endpoints: [neighbour],
    pod: 'silent',
    node: '10.244.1.11 node',
    outside: '10.244.1.11 node',
  },
  {
    what: 'source ranges with only the pods, and policy Local, are silent to the machines',
    service: { ...balancer, ...local, healthCheckNodePort: 30999, loadBalancerSourceRanges: ['10.244.0.0/16'] },
    endpoints: [neighbour],
    pod: '10.244.1.11 itself',
    node: 'silent',
    outside: 'silent',
  },
  {
    what: 'source ranges apply before a frontend without endpoints refuses',
    service: { ...balancer, loadBalancerSourceRanges: ['10.244.0.0/16'] },
    endpoints: [],
    pod: 'refused',
    node: 'silent',
    outside: 'silent',
  },
  {
    what: 'with session affinity the same endpoint answers every time',
    service: { sessionAffinity: 'ClientIP' },
    endpoints: [neighbour, remote],
    pod: '10.244.1.11 itself, 10.244.2.10 itself, sticky',
    node: '10.244.1.11 node, 10.244.2.10 node, sticky',
    outside: '10.244.1.11 node, 10.244.2.10 node, sticky',
  },
  {
    what: 'an IPv6 Service is answered in the same way',
    service: { clusterIP: 'fd00:10:96::1' },
    endpoints: [{ ip: 'fd00:10:244:1::10', nodeName: 'node-a' }],
    pod: '[fd00:10:244:1::10] node',
    node: '[fd00:10:244:1::10] node',
    outside: '[fd00:10:244:1::10] node',
  },
];

describe('how connections should be answered', () => {
  for (const { what, service, endpoints, ...want } of cases) {
    test(`DEMO-2 ${what}`, () => {
      const [pod, node, outside] = expectations(service, endpoints);
      assert.deepEqual({ pod, node, outside }, want);
    });
  }
});

test('DEMO-9 a relay makes every endpoint see the node as its caller', () => {
  const every = '10.244.1.11 node, 10.244.2.10 node';
  assert.deepEqual(expectations({}, [neighbour, remote], { isRelay: true }), [every, every, every]);
});

test('DEMO-9 a mode without a short circuit reaches only local endpoints, unless there are none', () => {
  const behaviour = { hasShortCircuit: false, withoutLocalEndpoints: 'cluster-endpoints' } as const;
  const expected = ['10.244.1.11 itself', '10.244.1.11 node', '10.244.1.11 itself'];
  assert.deepEqual(expectations({ ...nodePort, ...local }, [neighbour, remote], behaviour), expected);
  const [pod = '', node = ''] = expectations({ ...nodePort, ...local }, [remote], behaviour);
  assert.deepEqual([pod, node], ['10.244.2.10 itself', '10.244.2.10 node']);
});

test('DEMO-10 an endpoint at an address of the node sees callers elsewhere with their own address', () => {
  const onNode = { ip: '192.168.0.2', nodeName: 'node-a' };
  assert.deepEqual(expectations({}, [onNode]), ['192.168.0.2 itself', '192.168.0.2 node', '192.168.0.2 itself']);
});
