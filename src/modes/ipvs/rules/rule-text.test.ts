import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chain, planned } from '../../../../test/support/ipvs-plan.ts';
import { service, slice } from '../../../../test/support/objects.ts';
import { SET_KEYS } from '../names.ts';
import { JUMPS } from './jumps.ts';
import { type RuleInput, restoreText } from './rule-text.ts';

const WEB = [
  service('demo/web', { clusterIP: '10.96.10.20' }),
  slice('demo/web-1', [{ ip: '10.244.1.5', nodeName: 'node-a' }, '10.244.2.7', '10.244.3.9']),
];
const LB = [
  service('demo/lb', {
    clusterIP: '10.96.10.21',
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 31000,
    ingress: [{ ip: '203.0.113.10' }],
    loadBalancerSourceRanges: ['198.51.100.0/24', '192.168.0.0/24'],
    ports: [{ port: 443, nodePort: 30443 }],
  }),
  slice('demo/lb-1', [{ ip: '10.244.1.6', nodeName: 'node-a' }, '10.244.2.8'], {
    ports: [{ name: '', protocol: 'TCP', port: 8443 }],
  }),
];

const EXAMPLE = `*nat
:KUBE-SERVICES - [0:0]
:KUBE-POSTROUTING - [0:0]
:KUBE-NODE-PORT - [0:0]
:KUBE-LOAD-BALANCER - [0:0]
:KUBE-MARK-MASQ - [0:0]
-A KUBE-SERVICES -s 127.0.0.0/8 -j RETURN
-A KUBE-POSTROUTING -m comment --comment "Kubernetes endpoints dst ip:port, source ip for solving hairpin purpose" -m set --match-set KUBE-LOOP-BACK dst,dst,src -j MASQUERADE
-A KUBE-SERVICES -m comment --comment "Kubernetes service lb portal" -m set --match-set KUBE-LOAD-BALANCER dst,dst -j KUBE-LOAD-BALANCER
-A KUBE-LOAD-BALANCER -m comment --comment "Kubernetes service load balancer ip + port with externalTrafficPolicy=local" -m set --match-set KUBE-LOAD-BALANCER-LOCAL dst,dst -j RETURN
-A KUBE-NODE-PORT -p tcp -m comment --comment "Kubernetes nodeport TCP port with externalTrafficPolicy=local" -m set --match-set KUBE-NODE-PORT-LOCAL-TCP dst -j RETURN
-A KUBE-NODE-PORT -p tcp -m comment --comment "Kubernetes nodeport TCP port for masquerade purpose" -m set --match-set KUBE-NODE-PORT-TCP dst -j KUBE-MARK-MASQ
-A KUBE-SERVICES -m comment --comment "Kubernetes service cluster ip + port for masquerade purpose" -m set --match-set KUBE-CLUSTER-IP dst,dst ! -s 10.244.0.0/16 -j KUBE-MARK-MASQ
-A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODE-PORT
-A KUBE-LOAD-BALANCER -j KUBE-MARK-MASQ
-A KUBE-SERVICES -m set --match-set KUBE-CLUSTER-IP dst,dst -j ACCEPT
-A KUBE-SERVICES -m set --match-set KUBE-LOAD-BALANCER dst,dst -j ACCEPT
-A KUBE-POSTROUTING -m mark ! --mark 0x00004000/0x00004000 -j RETURN
-A KUBE-POSTROUTING -j MARK --xor-mark 0x00004000
-A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE --random-fully
-A KUBE-MARK-MASQ -j MARK --or-mark 0x00004000
COMMIT
*filter
:KUBE-FORWARD - [0:0]
:KUBE-NODE-PORT - [0:0]
:KUBE-PROXY-FIREWALL - [0:0]
:KUBE-SOURCE-RANGES-FIREWALL - [0:0]
:KUBE-IPVS-FILTER - [0:0]
:KUBE-IPVS-OUT-FILTER - [0:0]
-A KUBE-PROXY-FIREWALL -m comment --comment "Kubernetes service load balancer ip + port for load balancer with sourceRange" -m set --match-set KUBE-LOAD-BALANCER-FW dst,dst -j KUBE-SOURCE-RANGES-FIREWALL
-A KUBE-SOURCE-RANGES-FIREWALL -m comment --comment "Kubernetes service load balancer ip + port + source cidr for packet filter purpose" -m set --match-set KUBE-LOAD-BALANCER-SOURCE-CIDR dst,dst,src -j RETURN
-A KUBE-SOURCE-RANGES-FIREWALL -m comment --comment "Kubernetes service load balancer ip + port + source IP for packet filter purpose" -m set --match-set KUBE-LOAD-BALANCER-SOURCE-IP dst,dst,src -j RETURN
-A KUBE-SOURCE-RANGES-FIREWALL -j DROP
-A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark 0x00004000/0x00004000 -j ACCEPT
-A KUBE-FORWARD -m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A KUBE-NODE-PORT -m comment --comment "Kubernetes health check node port" -m set --match-set KUBE-HEALTH-CHECK-NODE-PORT dst -j ACCEPT
-A KUBE-IPVS-FILTER -m set --match-set KUBE-LOAD-BALANCER dst,dst -j RETURN
-A KUBE-IPVS-FILTER -m set --match-set KUBE-CLUSTER-IP dst,dst -j RETURN
-A KUBE-IPVS-FILTER -m set --match-set KUBE-EXTERNAL-IP dst,dst -j RETURN
-A KUBE-IPVS-FILTER -m set --match-set KUBE-EXTERNAL-IP-LOCAL dst,dst -j RETURN
-A KUBE-IPVS-FILTER -m set --match-set KUBE-HEALTH-CHECK-NODE-PORT dst -j RETURN
-A KUBE-IPVS-FILTER -m conntrack --ctstate NEW -m set --match-set KUBE-IPVS-IPS dst -j REJECT
COMMIT`;

const isJump = (rule: string) => rule.startsWith('-I ');

const BASE: RuleInput = {
  family: 'IPv4',
  masqueradeAll: false,
  masqueradeMark: 0x4000,
  localDetector: undefined,
  randomFully: true,
  used: new Set(),
  drops: [],
};

test('IPVS-17 the text for iptables-restore of two Services', () => {
  const { rules, sets, servers, addresses } = planned([...WEB, ...LB], { nodeIPs: ['192.168.0.2', '10.244.1.1'] });
  assert.equal(rules.filter(rule => !isJump(rule)).join('\n'), EXAMPLE);
  assert.deepEqual(addresses, ['10.96.10.20', '10.96.10.21', '203.0.113.10']);
  assert.equal(servers.length, 13);
  assert.deepEqual(sets, {
    'KUBE-LOOP-BACK': ['10.244.1.5,tcp:8080,10.244.1.5', '10.244.1.6,tcp:8443,10.244.1.6'],
    'KUBE-CLUSTER-IP': ['10.96.10.20,tcp:80', '10.96.10.21,tcp:443'],
    'KUBE-LOAD-BALANCER': ['203.0.113.10,tcp:443'],
    'KUBE-LOAD-BALANCER-FW': ['203.0.113.10,tcp:443'],
    'KUBE-LOAD-BALANCER-LOCAL': ['203.0.113.10,tcp:443'],
    'KUBE-LOAD-BALANCER-SOURCE-IP': ['203.0.113.10,tcp:443,203.0.113.10'],
    'KUBE-LOAD-BALANCER-SOURCE-CIDR': ['203.0.113.10,tcp:443,192.168.0.0/24', '203.0.113.10,tcp:443,198.51.100.0/24'],
    'KUBE-NODE-PORT-TCP': ['30443'],
    'KUBE-NODE-PORT-LOCAL-TCP': ['30443'],
    'KUBE-HEALTH-CHECK-NODE-PORT': ['31000'],
    'KUBE-IPVS-IPS': ['10.96.10.20', '10.96.10.21', '203.0.113.10'],
  });
});

describe('nat', () => {
  test('IPVS-17 connections from loopback addresses return at once', () => {
    assert.equal(chain(planned(WEB), 'KUBE-SERVICES')[0], '-s 127.0.0.0/8 -j RETURN');
    assert.equal(chain(planned([], { family: 'IPv6' }), 'KUBE-SERVICES')[0], '-s ::1/128 -j RETURN');
  });

  test('IPVS-17 masquerading is random if the programs support it', () => {
    const last = (randomFully: boolean) => {
      const rules = restoreText({ ...BASE, randomFully }, []).split('\n');
      return chain({ rules }, 'KUBE-POSTROUTING').at(-1);
    };
    const rule = '-m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE';
    assert.deepEqual([last(true), last(false)], [`${rule} --random-fully`, rule]);
  });

  test('IPVS-17 at cluster IPs all packets are masqueraded, or those that no pod sent, or those from a cluster IP', () => {
    const rule = (input: Partial<RuleInput>) => {
      const rules = restoreText({ ...BASE, used: new Set(['clusterIP']), ...input }, []).split('\n');
      return chain({ rules }, 'KUBE-SERVICES')[1]?.replace(/.*--match-set /, '');
    };
    assert.equal(rule({ masqueradeAll: true }), 'KUBE-CLUSTER-IP dst,dst -j KUBE-MARK-MASQ');
    assert.equal(rule({}), 'KUBE-CLUSTER-IP src,dst -j KUBE-MARK-MASQ');
    assert.equal(
      rule({ localDetector: { kind: 'interface', name: 'cbr0' } }),
      'KUBE-CLUSTER-IP dst,dst ! -i cbr0 -j KUBE-MARK-MASQ',
    );
    assert.equal(
      rule({ localDetector: { kind: 'interface-prefix', prefix: 'veth' } }),
      'KUBE-CLUSTER-IP dst,dst ! -i veth+ -j KUBE-MARK-MASQ',
    );
  });

  test('IPVS-17 packets to external IPs are masqueraded and accepted; with policy Local they are only accepted', () => {
    const external = planned([service('s', { externalIPs: ['50.60.70.81'] })]);
    const brief = (rules: readonly string[]) => rules.map(rule => rule.replace(/-m comment --comment "[^"]*" /, ''));
    const outside = '-m physdev ! --physdev-is-in -m addrtype ! --src-type LOCAL -j ACCEPT';
    const toNode = '-m addrtype --dst-type LOCAL -j ACCEPT';
    assert.deepEqual(brief(chain(external, 'KUBE-SERVICES')), [
      '-s 127.0.0.0/8 -j RETURN',
      '-m set --match-set KUBE-CLUSTER-IP dst,dst ! -s 10.244.0.0/16 -j KUBE-MARK-MASQ',
      '-m set --match-set KUBE-EXTERNAL-IP dst,dst -j KUBE-MARK-MASQ',
      `-m set --match-set KUBE-EXTERNAL-IP dst,dst ${outside}`,
      `-m set --match-set KUBE-EXTERNAL-IP dst,dst ${toNode}`,
      '-m addrtype --dst-type LOCAL -j KUBE-NODE-PORT',
      '-m set --match-set KUBE-CLUSTER-IP dst,dst -j ACCEPT',
    ]);
    const local = service('s', { type: 'NodePort', externalIPs: ['50.60.70.81'], externalTrafficPolicy: 'Local' });
    assert.deepEqual(brief(chain(planned([local]), 'KUBE-SERVICES')).slice(2, 4), [
      `-m set --match-set KUBE-EXTERNAL-IP-LOCAL dst,dst ${outside}`,
      `-m set --match-set KUBE-EXTERNAL-IP-LOCAL dst,dst ${toNode}`,
    ]);
  });

  test('IPVS-17 packets to node ports with policy Local return before other packets are marked, for each protocol', () => {
    const rules = restoreText({ ...BASE, used: new Set(SET_KEYS) }, []).split('\n');
    assert.deepEqual(
      chain({ rules }, 'KUBE-NODE-PORT').map(rule =>
        rule.replace(/-m comment --comment "[^"]*" -m set --match-set /, ''),
      ),
      [
        '-p tcp KUBE-NODE-PORT-LOCAL-TCP dst -j RETURN',
        '-p tcp KUBE-NODE-PORT-TCP dst -j KUBE-MARK-MASQ',
        '-p udp KUBE-NODE-PORT-LOCAL-UDP dst -j RETURN',
        '-p udp KUBE-NODE-PORT-UDP dst -j KUBE-MARK-MASQ',
        '-p sctp KUBE-NODE-PORT-LOCAL-SCTP-HASH dst,dst -j RETURN',
        '-p sctp KUBE-NODE-PORT-SCTP-HASH dst,dst -j KUBE-MARK-MASQ',
      ],
    );
  });
});

test('IPVS-17 the text declares chains and inserts jumps in a fixed order', () => {
  const lines = restoreText(BASE, JUMPS).split('\n');
  assert.deepEqual(
    lines.filter(line => line.startsWith(':')).map(line => line.replace(' - [0:0]', '').slice(1)),
    [
      'KUBE-SERVICES',
      'KUBE-POSTROUTING',
      'KUBE-NODE-PORT',
      'KUBE-LOAD-BALANCER',
      'KUBE-MARK-MASQ',
      'KUBE-FORWARD',
      'KUBE-NODE-PORT',
      'KUBE-PROXY-FIREWALL',
      'KUBE-SOURCE-RANGES-FIREWALL',
      'KUBE-IPVS-FILTER',
      'KUBE-IPVS-OUT-FILTER',
    ],
  );
  assert.deepEqual(
    lines.filter(isJump).map(line => line.replace(/-m comment --comment "[^"]*" /, '')),
    [
      '-I OUTPUT -j KUBE-SERVICES',
      '-I PREROUTING -j KUBE-SERVICES',
      '-I POSTROUTING -j KUBE-POSTROUTING',
      '-I FORWARD -j KUBE-FORWARD',
      '-I INPUT -j KUBE-NODE-PORT',
      '-I INPUT -j KUBE-PROXY-FIREWALL',
      '-I FORWARD -j KUBE-PROXY-FIREWALL',
      '-I INPUT -j KUBE-IPVS-FILTER',
      '-I OUTPUT -j KUBE-IPVS-OUT-FILTER',
    ],
  );
});
