import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summaryOf } from './summary.ts';
import type { RuleStep, TracedPacket } from './traced-packet.ts';

const PACKET: TracedPacket = {
  at: 0,
  protocol: 'tcp',
  tcpFlags: 'SYN',
  first: { source: '10.244.1.200:41234', destination: '10.96.0.10:80' },
  last: { source: '192.168.0.2:30001', destination: '10.244.2.3:8080' },
  inInterface: 'cni0',
  services: ['default/web:http'],
  steps: [],
  skipsNat: false,
  flow: undefined,
  outcome: { kind: 'left', interface: 'eth0' },
};
const RULE: RuleStep = {
  kind: 'rule',
  chain: 'filter_FORWARD',
  position: 3,
  handle: 12,
  text: 'ip saddr 10.244.0.0/16 drop',
  verdict: 'drop',
  mark: 0,
  elements: [],
  services: [],
  isReject: false,
};
const UNCHANGED = { ...PACKET, last: PACKET.first };

test('TRACE-6 a summary says the Service, the endpoint, the new source and the end', () => {
  assert.equal(
    summaryOf(PACKET),
    '10.244.1.200:41234 → 10.96.0.10:80 tcp SYN: default/web:http, DNAT to 10.244.2.3:8080, ' +
      'source replaced by 192.168.0.2:30001, accepted, left through eth0',
  );
  assert.equal(
    summaryOf({ ...UNCHANGED, tcpFlags: undefined, protocol: 'udp', services: [], outcome: { kind: 'delivered' } }),
    '10.244.1.200:41234 → 10.96.0.10:80 udp: accepted, given to this machine itself',
  );
});

test('TRACE-6 a summary names the rule or policy that drops or rejects', () => {
  const at = { table: 'inet firewalld', baseChain: 'filter_FORWARD' };
  assert.match(
    summaryOf({ ...UNCHANGED, outcome: { kind: 'dropped', ...at, rule: RULE } }),
    /, dropped by table inet firewalld, chain filter_FORWARD, rule 3: ip saddr 10\.244\.0\.0\/16 drop$/,
  );
  const policy: RuleStep = { ...RULE, kind: 'policy', position: undefined, text: 'policy drop' };
  assert.match(
    summaryOf({ ...UNCHANGED, outcome: { kind: 'dropped', ...at, rule: policy } }),
    /, dropped by table inet firewalld, chain filter_FORWARD, policy drop$/,
  );
  const gone: RuleStep = { ...RULE, position: undefined, text: 'with handle 12, which is gone' };
  assert.match(
    summaryOf({ ...UNCHANGED, outcome: { kind: 'rejected', ...at, rule: gone } }),
    /, rejected by table inet firewalld, chain filter_FORWARD, rule with handle 12, which is gone$/,
  );
});
