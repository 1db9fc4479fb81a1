import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { service, slice } from '../../test/support/objects.ts';
import type { Protocol } from '../api/index.ts';
import { Model } from '../model/index.ts';
import { conntrackMax, conntrackSysctls } from './conntrack-sysctls.ts';
import { staleFlowTest } from './stale-flows.ts';

type Endpoints = Parameters<typeof slice>[1];

function finder(endpoints: Endpoints, protocol: Protocol = 'UDP', allowExternalIPs = true) {
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

/** Whether the flow `client → to, answered by from` is stale. */
function isStale(
  find: ReturnType<typeof staleFlowTest>,
  to: string,
  from: string,
  protocol: Protocol = 'UDP',
): boolean {
  const address = (text: string) => {
    const [ip = '', port = ''] = text.split(':');
    return { ip, port: Number(port) };
  };
  return find({ protocol, destination: address(to), answeredBy: address(from) });
}

const serving = { ip: '10.244.1.1', ready: true };
const going = { ip: '10.244.1.2', ready: false, serving: true, terminating: true };
const gone = { ip: '10.244.1.3', ready: false, serving: false, terminating: true };

describe('stale flows', () => {
  const find = finder([serving, going, gone]);
  const flows: [string, string, string, boolean][] = [
    ['cluster IP to a serving endpoint', '10.96.0.1:53', '10.244.1.1:5353', false],
    ['cluster IP to a terminating endpoint that serves', '10.96.0.1:53', '10.244.1.2:5353', false],
    ['cluster IP to an endpoint that no longer serves', '10.96.0.1:53', '10.244.1.3:5353', true],
    ['cluster IP to an endpoint that is gone', '10.96.0.1:53', '10.244.9.9:5353', true],
    ['cluster IP to the old port of an endpoint', '10.96.0.1:53', '10.244.1.1:5300', true],
    ['cluster IP, never steered', '10.96.0.1:53', '10.96.0.1:53', true],
    ['another port of the cluster IP', '10.96.0.1:54', '10.244.9.9:5353', false],
    ['external IP', '1.1.1.1:53', '10.244.9.9:5353', true],
    ['load-balancer IP', '2.2.2.2:53', '10.244.9.9:5353', true],
    ['node port at any address', '192.168.7.7:30053', '10.244.9.9:5353', true],
    ['node port to a serving endpoint', '192.168.7.7:30053', '10.244.1.1:5353', false],
    ['no Service at all', '8.8.8.8:53', '8.8.8.8:53', false],
  ];
  for (const [what, to, from, want] of flows) {
    test(`PLAN-11 ${what} is ${want ? 'stale' : 'kept'}`, () => assert.equal(isStale(find, to, from), want));
  }

  test('PLAN-11 TCP flows are always kept', () => {
    assert.equal(isStale(find, '10.96.0.1:53', '10.244.9.9:5353', 'TCP'), false);
    assert.equal(isStale(finder([serving], 'TCP'), '10.96.0.1:53', '10.244.9.9:5353', 'TCP'), false);
  });

  test('PLAN-11 flows of a Service without serving endpoints are kept', () => {
    assert.equal(isStale(finder([]), '10.96.0.1:53', '10.244.9.9:5353'), false);
    assert.equal(isStale(finder([gone]), '10.96.0.1:53', '10.244.1.3:5353'), false);
  });

  test('PLAN-11 an SCTP flow is stale only when its endpoint is gone', () => {
    const sctp = finder([serving, gone], 'SCTP');
    assert.equal(isStale(sctp, '10.96.0.1:53', '10.244.1.3:5353', 'SCTP'), false);
    assert.equal(isStale(sctp, '10.96.0.1:53', '10.244.9.9:5353', 'SCTP'), true);
    assert.equal(isStale(sctp, '10.96.0.1:53', '10.244.9.9:5353', 'UDP'), false);
  });

  test('PLAN-11 external IPs that are not allowed do not count', () => {
    assert.equal(isStale(finder([serving], 'UDP', false), '1.1.1.1:53', '10.244.9.9:5353'), false);
  });
});

describe('conntrack sysctls', () => {
  const none = {
    maxPerCore: undefined,
    min: undefined,
    tcpEstablishedTimeoutMs: undefined,
    tcpCloseWaitTimeoutMs: undefined,
    tcpBeLiberal: false,
    udpTimeoutMs: undefined,
    udpStreamTimeoutMs: undefined,
  };
  const maxima: [number | undefined, number | undefined, number, number][] = [
    [0, 0, 4, 0],
    [undefined, 500_000, 4, 0],
    [12_345, 0, 4, 49_380],
    [10, 987_654, 4, 987_654],
    [32_768, 131_072, 2, 131_072],
    [32_768, 131_072, 512, 1_048_576],
    [600_000, 2_000_000, 4, 1_048_576],
  ];
  for (const [maxPerCore, min, cpus, want] of maxima) {
    test(`PLAN-13 ${maxPerCore} a core on ${cpus} cores, at least ${min}: ${want}`, () =>
      assert.equal(conntrackMax({ ...none, maxPerCore, min }, cpus), want));
  }

  test('PLAN-13 nothing is set for an empty configuration, or for zero', () => {
    assert.deepEqual(conntrackSysctls(none, 4), []);
    assert.deepEqual(conntrackSysctls({ ...none, maxPerCore: 0, tcpEstablishedTimeoutMs: 0, udpTimeoutMs: 0 }, 4), []);
  });

  test('PLAN-13 each value has its sysctl, times in seconds', () => {
    const all = {
      maxPerCore: 1000,
      min: 1,
      tcpEstablishedTimeoutMs: 86_400_000,
      tcpCloseWaitTimeoutMs: 3_600_000,
      tcpBeLiberal: true,
      udpTimeoutMs: 30_000,
      udpStreamTimeoutMs: 120_000,
    };
    assert.deepEqual(
      conntrackSysctls(all, 4).map(({ name, value }) => `${name}=${value}`),
      [
        'net/netfilter/nf_conntrack_max=4000',
        'net/netfilter/nf_conntrack_tcp_timeout_established=86400',
        'net/netfilter/nf_conntrack_tcp_timeout_close_wait=3600',
        'net/netfilter/nf_conntrack_tcp_be_liberal=1',
        'net/netfilter/nf_conntrack_udp_timeout=30',
        'net/netfilter/nf_conntrack_udp_timeout_stream=120',
      ],
    );
  });
});
