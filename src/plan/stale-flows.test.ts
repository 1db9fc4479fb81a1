import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { service, slice } from '../../test/support/objects.ts';
import type { Protocol } from '../api/index.ts';
import { Model } from '../model/index.ts';
import { staleFlowTest } from './stale-flows.ts';

type Endpoints = Parameters<typeof slice>[1];

function createTest(endpoints: Endpoints, protocol: Protocol = 'UDP', allowExternalIPs = true) {
  const model = new Model({
    family: 'IPv4',
    nodeName: 'node-a',
    startedAt: 0,
    report: problem => assert.fail(problem.message),
  });
  const ports = [{ protocol, port: 53, nodePort: 30053 }];
  model.setService(service('s', { ports, externalIPs: ['1.1.1.1'], ingress: [{ ip: '2.2.2.2' }] }));
  model.setEndpointSlice(slice('s-1', endpoints, { ports: [{ name: '', protocol, port: 5353 }] }));
  model.take();
  return staleFlowTest(model.services(), allowExternalIPs);
}

/** Whether a flow from a client to `to`, with answers from `from`, is stale. */
function isStale(
  test: ReturnType<typeof staleFlowTest>,
  to: string,
  from: string,
  protocol: Protocol = 'UDP',
): boolean {
  const address = (text: string) => {
    const [ip = '', port = ''] = text.split(':');
    return { ip, port: Number(port) };
  };
  return test({ protocol, destination: address(to), answeredBy: address(from) });
}

const serving = { ip: '10.244.1.1', ready: true };
const going = { ip: '10.244.1.2', ready: false, serving: true, terminating: true };
const gone = { ip: '10.244.1.3', ready: false, serving: false, terminating: true };

describe('stale flows', () => {
  const isStaleFlow = createTest([serving, going, gone]);
  const flows: [string, string, string, boolean][] = [
    ['the cluster IP and a serving endpoint', '10.96.0.1:53', '10.244.1.1:5353', false],
    ['the cluster IP and a terminating endpoint that serves', '10.96.0.1:53', '10.244.1.2:5353', false],
    ['the cluster IP and an endpoint that no longer serves', '10.96.0.1:53', '10.244.1.3:5353', true],
    ['the cluster IP and an endpoint that is gone', '10.96.0.1:53', '10.244.9.9:5353', true],
    ['the cluster IP and the old port of an endpoint', '10.96.0.1:53', '10.244.1.1:5300', true],
    ['the cluster IP and no endpoint', '10.96.0.1:53', '10.96.0.1:53', true],
    ['another port of the cluster IP', '10.96.0.1:54', '10.244.9.9:5353', false],
    ['an external IP and an endpoint that is gone', '1.1.1.1:53', '10.244.9.9:5353', true],
    ['a load-balancer IP and an endpoint that is gone', '2.2.2.2:53', '10.244.9.9:5353', true],
    ['a node port and an endpoint that is gone', '192.168.7.7:30053', '10.244.9.9:5353', true],
    ['a node port and a serving endpoint', '192.168.7.7:30053', '10.244.1.1:5353', false],
    ['an address of no Service', '8.8.8.8:53', '8.8.8.8:53', false],
  ];
  for (const [what, to, from, want] of flows) {
    test(`PLAN-11 a flow to ${what} is ${want ? 'stale' : 'kept'}`, () =>
      assert.equal(isStale(isStaleFlow, to, from), want));
  }

  test('PLAN-11 TCP flows are always kept', () => {
    assert.equal(isStale(isStaleFlow, '10.96.0.1:53', '10.244.9.9:5353', 'TCP'), false);
    assert.equal(isStale(createTest([serving], 'TCP'), '10.96.0.1:53', '10.244.9.9:5353', 'TCP'), false);
  });

  for (const [what, endpoints, from] of [
    ['no endpoints', [], '10.244.9.9:5353'],
    ['no serving endpoints', [gone], '10.244.1.3:5353'],
  ] as const) {
    test(`PLAN-11 the flows of a Service with ${what} are stale, except those to its node port`, () => {
      const isStaleFlow = createTest(endpoints);
      for (const to of ['10.96.0.1:53', '1.1.1.1:53', '2.2.2.2:53'])
        assert.equal(isStale(isStaleFlow, to, from), true, to);
      assert.equal(isStale(isStaleFlow, '192.168.7.7:30053', from), false);
      assert.equal(isStale(isStaleFlow, '8.8.8.8:30053', '8.8.8.8:30053'), false);
    });
  }

  test('PLAN-11 an SCTP flow is stale only when its endpoint is gone', () => {
    const sctp = createTest([serving, gone], 'SCTP');
    assert.equal(isStale(sctp, '10.96.0.1:53', '10.244.1.3:5353', 'SCTP'), false);
    assert.equal(isStale(sctp, '10.96.0.1:53', '10.244.9.9:5353', 'SCTP'), true);
    assert.equal(isStale(sctp, '10.96.0.1:53', '10.244.9.9:5353', 'UDP'), false);
    assert.equal(isStale(createTest([gone], 'SCTP'), '10.96.0.1:53', '10.244.1.3:5353', 'SCTP'), false);
    assert.equal(isStale(createTest([], 'SCTP'), '10.96.0.1:53', '10.244.1.3:5353', 'SCTP'), true);
  });

  test('PLAN-11 flows to external IPs that are not allowed are kept', () => {
    assert.equal(isStale(createTest([serving], 'UDP', false), '1.1.1.1:53', '10.244.9.9:5353'), false);
  });
});
