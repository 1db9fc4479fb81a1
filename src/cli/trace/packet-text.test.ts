import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RuleStep, TracedPacket } from '../../trace/index.ts';
import { styleFor } from '../style.ts';
import { packetText } from './packet-text.ts';

const PLAIN = styleFor({}, {}, 'never');
const RULE: RuleStep = {
  kind: 'rule',
  chain: 'nat-prerouting',
  position: 1,
  handle: 9,
  text: 'jump services',
  verdict: 'jump services',
  mark: 0,
  elements: [],
  services: [],
  isReject: false,
};
const FIRST = { source: '10.244.1.200:41234', destination: '10.96.0.10:80' };
const LAST = { source: '10.244.1.200:41234', destination: '10.244.2.3:8080' };
const PACKET: TracedPacket = {
  at: 0,
  protocol: 'tcp',
  tcpFlags: 'SYN',
  first: FIRST,
  last: LAST,
  inInterface: 'cni0',
  services: ['default/web:http'],
  steps: [
    {
      kind: 'chain',
      hook: 'prerouting',
      priority: -100,
      table: 'ip kube-proxy',
      chain: 'nat-prerouting',
      outInterface: undefined,
      rules: [
        RULE,
        {
          ...RULE,
          chain: 'services',
          position: 3,
          text: 'meta priority vmap @targets',
          verdict: 'goto pick-cluster-3',
          elements: ['@targets 0x10003000 : goto pick-cluster-3'],
          services: ['default/web:http'],
        },
        {
          ...RULE,
          chain: 'KUBE-SERVICES',
          position: 2,
          text: '-j KUBE-SVC-X',
          verdict: 'jump KUBE-SVC-X',
          mark: 0x4000,
        },
        { ...RULE, position: undefined, text: 'with handle 7, which is gone', verdict: 'continue', mark: 0x4000 },
      ],
    },
    { kind: 'rewrite', from: FIRST, to: LAST },
    {
      kind: 'chain',
      hook: 'forward',
      priority: 0,
      table: 'inet firewalld',
      chain: 'filter_FORWARD',
      outInterface: 'eth0',
      rules: [{ ...RULE, kind: 'policy', chain: 'filter_FORWARD', text: 'policy accept', verdict: 'accept' }],
    },
  ],
  skipsNat: false,
  flow: 'tcp      6 119 TIME_WAIT src=10.244.1.200',
  outcome: { kind: 'left', interface: 'eth0' },
};

test('TRACE-10 the text has the chains in order, the rules with their verdicts, and the end', () => {
  assert.equal(
    packetText(PACKET, 1, PLAIN),
    `#1 10.244.1.200:41234 → 10.96.0.10:80 tcp SYN, came in through cni0
  prerouting  -100  table ip kube-proxy, chain nat-prerouting
      1: jump services
      services 3: meta priority vmap @targets → goto pick-cluster-3  [default/web:http]
          found @targets 0x10003000 : goto pick-cluster-3
      KUBE-SERVICES 2: -j KUBE-SVC-X (mark is now 0x4000)
      rule with handle 7, which is gone
      destination 10.96.0.10:80 becomes 10.244.2.3:8080
  forward        0  table inet firewalld, chain filter_FORWARD, to eth0
      policy accept (mark is now 0x0)
  conntrack: tcp 6 119 TIME_WAIT src=10.244.1.200
  = default/web:http, DNAT to 10.244.2.3:8080, accepted, left through eth0
`,
  );
});

test('TRACE-10 a packet that is lost has hints, and names have no control characters', () => {
  const lost: TracedPacket = {
    ...PACKET,
    inInterface: undefined,
    services: ['default/\u001b[31mweb'],
    steps: [],
    outcome: { kind: 'lost', after: 'prerouting' },
  };
  const text = packetText(lost, 2, PLAIN);
  assert.match(text, /^#2 10\.244\.1\.200:41234 → 10\.96\.0\.10:80 tcp SYN, sent by this node\n/);
  assert.match(text, /default\/\\x1b\[31mweb, DNAT to 10\.244\.2\.3:8080, lost after prerouting/);
  assert.match(text, /\n {2}Look for a missing route \(ip route get 10\.244\.2\.3\)/);
});
