import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { service, slice } from '../../../test/support/objects.ts';
import { address, CALLERS, codesOf, NodeUnderTest, textOf } from '../../../test/support/outcomes.ts';
import { MODES } from '../../../test/traffic/modes.ts';
import { defaultConfiguration } from '../../config/index.ts';
import { configuredMode } from '../../modes/index.ts';
import type { Outcome } from '../outcome.ts';

const near = { ip: '10.244.1.2', nodeName: 'node-a' };
const far = { ip: '10.244.2.3', nodeName: 'other-node' };
const { pod, node, outside } = CALLERS;

/** `refused no-endpoints`, `elsewhere node node-address`, `answered`. */
function brief(outcome: Outcome): string {
  if (outcome.kind === 'answered') return outcome.kind;
  return [outcome.kind, outcome.kind === 'elsewhere' ? outcome.at : [], outcome.code].flat().join(' ');
}

const web = [
  service('web', {
    type: 'LoadBalancer',
    clusterIP: '10.96.0.10',
    externalIPs: ['198.51.100.10'],
    ingress: [{ ip: '203.0.113.10' }, { ip: '203.0.113.11', ipMode: 'Proxy' }],
    ports: [{ nodePort: 30080 }],
  }),
  slice('web-1', [near, far]),
];

describe('destinations that no Service has', () => {
  const cases: readonly [destination: string, nftables: string, iptables: string, ipvs: string][] = [
    ['10.96.0.10 81', 'refused unknown-port', 'elsewhere network unknown-port', 'refused unknown-port'],
    ['198.51.100.10 81', 'elsewhere network unknown-port', 'elsewhere network unknown-port', 'refused unknown-port'],
    [
      '10.96.0.99 80',
      'silent unallocated-cluster-ip',
      'elsewhere network unallocated-cluster-ip',
      'elsewhere network unallocated-cluster-ip',
    ],
    ['192.168.0.2 22', 'elsewhere node node-address', 'elsewhere node node-address', 'elsewhere node node-address'],
    [
      '203.0.113.11 80',
      'elsewhere network load-balancer-proxy',
      'elsewhere network load-balancer-proxy',
      'elsewhere network load-balancer-proxy',
    ],
    ['8.8.8.8 53', 'elsewhere network no-service', 'elsewhere network no-service', 'elsewhere network no-service'],
    ['127.0.0.1 30080', 'elsewhere node node-port-address', 'answered', 'elsewhere node node-port-address'],
    ['10.244.1.1 30080', 'elsewhere node node-port-address', 'answered', 'answered'],
  ];
  for (const [destination, nftables, iptables, ipvs] of cases) {
    test(`OUTCOME-4 ${destination} gets ${[...new Set([nftables, iptables, ipvs])].join(' or ')}`, () => {
      const tested = new NodeUnderTest(web);
      const got = (mode: 'nftables' | 'iptables' | 'ipvs') => brief(tested.outcome(node, destination, mode));
      assert.deepEqual([got('nftables'), got('iptables'), got('ipvs')], [nftables, iptables, ipvs]);
    });
  }

  test('OUTCOME-4 a loopback address is the own machine of a pod', () => {
    const outcome = new NodeUnderTest(web).outcome(pod, '127.0.0.1 30080', 'iptables');
    assert.equal(brief(outcome), 'elsewhere caller loopback-of-caller');
  });

  test('OUTCOME-4 an external IP that is not allowed goes elsewhere', () => {
    const tested = new NodeUnderTest(web, { plan: { allowExternalIPs: false } });
    const outcome = tested.outcome(outside, '198.51.100.10 80');
    assert.equal(brief(outcome), 'elsewhere network external-ip-not-allowed');
    assert.match(textOf(outcome), /an external IP of Service default\/web, which this proxy does not serve/);
  });

  test('OUTCOME-4 a mode that cannot serve a protocol does not handle it', () => {
    const sctp = [service('s', { ports: [{ protocol: 'SCTP' }] })];
    const outcome = new NodeUnderTest(sctp).outcome(pod, '10.96.0.1 80 SCTP', 'userspace');
    assert.equal(brief(outcome), 'elsewhere network protocol');
  });

  test('OUTCOME-4 iptables mode drops a node port without local endpoints also where it is not accepted', () => {
    const local = { type: 'NodePort', externalTrafficPolicy: 'Local', ports: [{ nodePort: 30080 }] };
    const objects = [service('s', local), slice('s-1', [far])];
    const tested = new NodeUnderTest(objects, { nodePortAddresses: ['192.168.0.0/24'] });
    assert.equal(brief(tested.outcome(pod, '10.244.1.1 30080', 'iptables')), 'silent no-local-endpoints');
    assert.equal(brief(tested.outcome(pod, '10.244.1.1 30080', 'userspace')), 'elsewhere node node-port-address');
  });

  test('OUTCOME-4 only userspace mode serves node ports at the loopback address of IPv6', () => {
    const web6 = service('s', { type: 'NodePort', clusterIP: 'fd00:10:96::10', ports: [{ nodePort: 30080 }] });
    const tested = new NodeUnderTest([web6, slice('s-1', ['fd00:10:244:1::2'])]);
    for (const mode of MODES) {
      const expected = mode === 'userspace' ? 'answered' : 'elsewhere node node-port-address';
      assert.equal(brief(tested.outcome(node, '::1 30080', mode)), expected, mode);
    }
  });

  test('OUTCOME-4 reasons name the address, the ports that exist and where packets go', () => {
    const tested = new NodeUnderTest(web, { nodePortAddresses: ['192.168.0.0/24'] });
    assert.equal(
      textOf(tested.outcome(pod, '10.96.0.10 81')),
      '10.96.0.10 has no port 81/TCP, only 80/TCP (default/web)',
    );
    assert.equal(
      textOf(tested.outcome(pod, '10.244.1.1 30080')),
      'node port 30080 of default/web does not accept connections at 10.244.1.1: nodePortAddresses is 192.168.0.0/24. ' +
        'A program of the node answers if it listens at 10.244.1.1:30080. Otherwise the kernel refuses',
    );
    assert.match(textOf(tested.outcome(node, '203.0.113.11 80')), /the load balancer of Service default\/web handles/);
  });
});

describe('reasons', () => {
  const local = { type: 'NodePort', externalTrafficPolicy: 'Local', ports: [{ nodePort: 30080 }] };

  test('OUTCOME-2 source ranges name the ranges and the caller', () => {
    const ranges = { type: 'LoadBalancer', ingress: [{ ip: '203.0.113.1' }], loadBalancerSourceRanges: ['10.0.0.0/8'] };
    const tested = new NodeUnderTest([service('s', ranges), slice('s-1', [near])]);
    const outcome = tested.outcome(outside, '203.0.113.1 80');
    assert.equal(brief(outcome), 'silent source-ranges');
    assert.equal(textOf(outcome), 'loadBalancerSourceRanges (10.0.0.0/8) does not contain 192.168.0.100');
    assert.equal(brief(tested.outcome(pod, '203.0.113.1 80')), 'answered');
  });

  test('OUTCOME-2 source ranges must contain the address from which the node itself connects', () => {
    const ranges = { loadBalancerSourceRanges: ['192.168.0.0/24'], ingress: [{ ip: '203.0.113.1' }] };
    const tested = new NodeUnderTest([service('s', { type: 'LoadBalancer', ...ranges }), slice('s-1', [near])]);
    const second = { place: 'node', ip: address('172.31.0.9') } as const;
    assert.equal(brief(tested.outcome(node, '203.0.113.1 80')), 'answered');
    assert.equal(brief(tested.outcome(second, '203.0.113.1 80')), 'silent source-ranges');
    assert.equal(brief(tested.outcome(second, '203.0.113.1 80', 'ipvs')), 'answered');
  });

  test('OUTCOME-2 policies name their field and the Service', () => {
    const tested = new NodeUnderTest([service('s', local), slice('s-1', [far])]);
    const outcome = tested.outcome(outside, '192.168.0.2 30080');
    assert.equal(brief(outcome), 'silent no-local-endpoints');
    assert.equal(
      textOf(outcome),
      'externalTrafficPolicy is Local, and no endpoint of default/s that can serve is on this node',
    );
    assert.ok(codesOf(tested.outcome(pod, '192.168.0.2 30080')).includes('short-circuit'));
    assert.ok(codesOf(tested.outcome(pod, '192.168.0.2 30080', 'ipvs')).includes('local-fallback'));
    const empty = new NodeUnderTest([service('s')]).outcome(pod, '10.96.0.1 80');
    assert.deepEqual([brief(empty), textOf(empty)], ['refused no-endpoints', 'no endpoint of default/s can serve']);
  });

  test('OUTCOME-2 in iptables mode, connections of the node itself to an external IP without endpoints leave it', () => {
    const tested = new NodeUnderTest([service('s', { externalIPs: ['198.51.100.10', '192.168.0.2'] })]);
    const brief2 = (destination: string) => brief(tested.outcome(node, destination, 'iptables'));
    assert.equal(brief2('198.51.100.10 80'), 'elsewhere network not-rejected-from-node');
    assert.equal(brief2('192.168.0.2 80'), 'refused no-endpoints');
  });

  test('OUTCOME-2 remarks say why endpoints see the node or the caller', () => {
    const tested = new NodeUnderTest(web);
    const self = { place: 'pod', ip: address('10.244.1.2') } as const;
    assert.deepEqual(codesOf(tested.outcome(self, '10.96.0.10 80')), ['hairpin', 'source-kept']);
    assert.deepEqual(codesOf(tested.outcome(pod, '203.0.113.10 80')), ['masquerade-external']);
    assert.deepEqual(codesOf(tested.outcome(outside, '10.96.0.10 80')), ['masquerade-outside']);
    assert.deepEqual(codesOf(tested.outcome(node, '10.96.0.10 80')), ['own-connection']);
    assert.deepEqual(codesOf(tested.outcome(pod, '10.96.0.10 80', 'userspace')), ['relay']);
    const all = new NodeUnderTest(web, { plan: { masqueradeAll: true } });
    assert.deepEqual(codesOf(all.outcome(pod, '10.96.0.10 80')), ['masquerade-all']);
    const onNode = new NodeUnderTest([service('s'), slice('s-1', [{ ip: '192.168.0.2', nodeName: 'node-a' }])]);
    assert.deepEqual(codesOf(onNode.outcome(pod, '10.96.0.1 80')), ['endpoint-on-node']);
    assert.equal(
      textOf(tested.outcome(outside, '10.96.0.10 80')),
      '192.168.0.100 does not count as a pod (by source range 10.244.0.0/16), so the node ' + 'replaces the source',
    );
  });

  for (const [rule, mode] of [
    ['NFT-56', 'nftables'],
    ['IPT-19', 'iptables'],
  ] as const) {
    test(`${rule} if ${mode} mode keeps source ports of node processes, a remark says so for TCP`, () => {
      const tcp = { name: 'tcp', protocol: 'TCP' } as const;
      const udp = { name: 'udp', protocol: 'UDP' } as const;
      const ports = [tcp, udp].map(port => ({ ...port, port: 8080 }));
      const objects = [service('s', { ports: [tcp, udp] }), slice('s-1', [near], { ports })];
      const text = (destination: string, keepNodeSourcePorts: boolean) => {
        const flags = { countConnections: false, keepNodeSourcePorts };
        const configured = configuredMode({ ...defaultConfiguration(), mode }, flags);
        return textOf(new NodeUnderTest(objects, { mode: configured }).outcome(node, destination));
      };
      const seen = 'the node itself connects, so endpoints see one of its addresses';
      assert.equal(text('10.96.0.1 80', false), seen);
      assert.equal(text('10.96.0.1 80', true), `${seen} and the source port of the caller, if that is free`);
      assert.equal(text('10.96.0.1 80 UDP', true), seen);
    });
  }

  test('OUTCOME-2 in ipvs mode the node connects from the address of the Service', () => {
    const tested = new NodeUnderTest([
      service('s', { ...local, externalIPs: ['198.51.100.10'] }),
      slice('s-1', [near]),
    ]);
    const outcome = tested.outcome(node, '198.51.100.10 80', 'ipvs');
    assert.ok(codesOf(outcome).includes('own-connection-from-service-ip'));
    assert.ok(outcome.kind === 'answered');
    assert.deepEqual(
      outcome.endpoints.map(({ text, seenAs, sourceIP }) => [text, seenAs, sourceIP]),
      [['10.244.1.2:8080', 'node', '198.51.100.10']],
    );
  });
});

test('OUTCOME-2 a source range, or an interface, decides which callers are pods', () => {
  const byRange = new NodeUnderTest(web);
  const otherPod = { place: 'pod', ip: address('172.16.0.1') } as const;
  assert.deepEqual(codesOf(byRange.outcome(otherPod, '10.96.0.10 80')), ['masquerade-outside']);
  const inRange = { place: 'outside', ip: address('10.244.2.9') } as const;
  assert.ok(codesOf(byRange.outcome(inRange, '10.96.0.10 80')).includes('source-kept'));
  const byBridge = new NodeUnderTest(web, { plan: { mode: 'BridgeInterface', bridgeInterface: 'cni0' } });
  assert.deepEqual(codesOf(byBridge.outcome(otherPod, '10.96.0.10 80')), ['source-kept']);
  assert.deepEqual(codesOf(byBridge.outcome(inRange, '10.96.0.10 80')), ['masquerade-outside']);
});

test('OUTCOME-5 an endpoint on another node would answer an outside caller directly, if its address is kept', () => {
  const tested = new NodeUnderTest(web, { plan: { clusterCIDRs: [] } });
  const outcome = tested.outcome(outside, '10.96.0.10 80');
  assert.ok(outcome.kind === 'answered');
  assert.deepEqual(
    [outcome.endpoints.map(({ text }) => text), outcome.lost],
    [['10.244.1.2:8080'], ['10.244.2.3:8080']],
  );
  assert.match(textOf(outcome), /10\.244\.2\.3:8080 would answer 192\.168\.0\.100 directly and not through this node/);
  const anywhere = tested.outcome({ place: 'outside', ip: address('0.0.0.0') }, '10.96.0.10 80');
  assert.match(textOf(anywhere), /10\.244\.2\.3:8080 would answer the caller directly and not through this node/);
  assert.deepEqual(codesOf(tested.outcome(pod, '10.96.0.10 80')), ['source-kept']);
  const remotePod = { ...pod, isOnOtherNode: true };
  assert.ok(codesOf(tested.outcome(remotePod, '10.96.0.10 80')).includes('answers-bypass-node'));
  const onlyFar = new NodeUnderTest([service('s'), slice('s-1', [far])], { plan: { clusterCIDRs: [] } });
  assert.equal(brief(onlyFar.outcome(outside, '10.96.0.1 80')), 'silent answers-bypass-node');
});

describe('the frontend that matches', () => {
  test('OUTCOME-3 an address that a Service names comes before a node port', () => {
    const tested = new NodeUnderTest([
      service('np', { type: 'NodePort', clusterIP: '10.96.0.2', ports: [{ nodePort: 30080 }] }),
      slice('np-1', [near]),
      service('ext', { clusterIP: '10.96.0.3', externalIPs: ['192.168.0.2'], ports: [{ port: 30080 }] }),
      slice('ext-1', [far]),
    ]);
    const outcome = tested.outcome(outside, '192.168.0.2 30080');
    assert.ok(outcome.kind === 'answered');
    assert.deepEqual(
      outcome.endpoints.map(({ text }) => text),
      ['10.244.2.3:8080'],
    );
  });

  test('OUTCOME-3 a frontend whose owner has no endpoints serves another Service in modes that share frontends', () => {
    const tested = new NodeUnderTest([
      service('a', { clusterIP: '10.96.0.2', externalIPs: ['198.51.100.10'] }),
      service('b', { clusterIP: '10.96.0.3', externalIPs: ['198.51.100.10'] }),
      slice('b-1', [near]),
    ]);
    assert.equal(brief(tested.outcome(outside, '198.51.100.10 80', 'nftables')), 'refused no-endpoints');
    const outcome = tested.outcome(outside, '198.51.100.10 80', 'iptables');
    assert.deepEqual(codesOf(outcome), ['shared-frontend', 'masquerade-external']);
    assert.match(textOf(outcome), /default\/a owns the address but no endpoint of it can serve, so default\/b serves/);
  });
});

test('OUTCOME-7 no file that computes outcomes names a mode', () => {
  const folder = 'src/explain/outcome';
  const sources = readdirSync(folder).filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  for (const name of sources) {
    const text = readFileSync(join(folder, name), 'utf8');
    for (const mode of MODES) assert.ok(!text.includes(mode), `${name} names ${mode}`);
  }
});
