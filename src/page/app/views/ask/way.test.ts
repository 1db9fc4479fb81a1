import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Explanation, Outcome, Step } from '../../../../explain/index.ts';
import { oddsText, traceQuestion, wayOf } from './way.ts';

const ANSWERED = {
  kind: 'answered',
  endpoints: [
    { text: '10.244.1.10:8080', seenAs: 'itself', sourceIP: undefined, odds: 0.5 },
    { text: '[fd00::1]:8080', seenAs: 'node', sourceIP: '192.168.0.2', odds: undefined },
  ],
  lost: ['10.244.2.3:8080'],
  isSticky: false,
  choice: { kind: 'random' },
  remarks: [],
} as unknown as Outcome;

function explanation(outcome: Outcome | undefined, rest: Partial<Explanation> = {}): Explanation {
  return {
    schema: 'pointsman.explanation/v1',
    question: { to: 'shop/web:80', probe: false },
    origin: { kind: 'proxy', node: 'node-a', mode: 'nftables' },
    target: {
      service: 'shop/web',
      port: 'http',
      protocol: 'TCP',
      family: 'IPv4',
      frontend: 'ClusterIP',
      address: '10.96.0.10:80',
    },
    caller: { place: 'pod', ip: '10.244.1.7', pod: 'shop/cart-0', how: '', isAssumed: false },
    steps: [],
    verdict: 'works',
    summary: '',
    ...(outcome && { outcome }),
    ...rest,
  };
}

test('PAGE-81 the way leads from the caller through the frontend to endpoints, with odds and what they see', () => {
  const way = wayOf(explanation(ANSWERED));
  assert.deepEqual(way.caller, { title: 'Pod', detail: 'shop/cart-0 10.244.1.7' });
  assert.deepEqual(way.frontend, { title: 'Cluster IP', detail: '10.96.0.10:80/tcp', service: 'shop/web' });
  assert.equal(way.end, undefined);
  assert.deepEqual(
    way.endpoints.map(({ address, odds, seen, isAsNode, isLost }) => [address, odds, seen, isAsNode, isLost]),
    [
      ['10.244.1.10:8080', '50\u00a0%', 'sees 10.244.1.7', false, false],
      ['[fd00::1]:8080', '', 'sees 192.168.0.2', true, false],
      ['10.244.2.3:8080', '', 'its answers do not come back', false, true],
    ],
  );
});

test('PAGE-81 without an endpoint the way ends with the reason', () => {
  const refused: Outcome = { kind: 'refused', code: 'no-endpoints', reason: 'the Service has no endpoints' };
  const { end, endpoints } = wayOf(explanation(refused));
  assert.deepEqual(end, { title: 'Refused', detail: 'the Service has no endpoints' });
  assert.deepEqual(endpoints, []);
  const elsewhere: Outcome = { kind: 'elsewhere', code: 'no-service', reason: 'no Service', at: 'network' };
  assert.equal(wayOf(explanation(elsewhere)).end?.title, 'The network beyond the node');
});

test('PAGE-81 at most 50 endpoints are listed', () => {
  const endpoints = Array.from({ length: 120 }, (_, i) => ({
    text: `10.0.0.${i}:80`,
    seenAs: 'itself',
    odds: 1 / 120,
  }));
  const way = wayOf(explanation({ ...ANSWERED, endpoints, lost: [] } as unknown as Outcome));
  assert.deepEqual([way.endpoints.length, way.more, way.endpoints[0]?.odds], [50, 70, '0.83\u00a0%']);
  assert.equal(oddsText(1), '100\u00a0%');
});

test('PAGE-83 each endpoint has the result of its probe', () => {
  const results = [
    { endpoint: { ip: '10.244.1.10', port: 8080 }, outcome: 'connected', ms: 0.4 },
    { endpoint: { ip: 'fd00::1', port: 8080 }, outcome: 'cannot tell', ms: 1000 },
    { endpoint: { ip: '10.244.2.3', port: 8080 }, outcome: 'refused', ms: 1 },
  ];
  const step: Step = { number: 1, topic: 'probe', verdict: 'bad', text: '', details: [], data: { results } };
  const { endpoints } = wayOf(explanation(ANSWERED, { steps: [step] }));
  assert.deepEqual(
    endpoints.map(({ probe }) => [probe?.outcome, probe?.isGood, probe?.isInconclusive]),
    [
      ['connected', true, false],
      ['cannot tell', false, true],
      ['refused', false, false],
    ],
  );
});

test('PAGE-86 a trace follows the address of the answer, from the caller that the operator named', () => {
  const to = '10.96.0.10:80/tcp';
  assert.deepEqual(traceQuestion(explanation(ANSWERED), true), { from: '10.244.1.7', to, isSent: false });
  const of = (caller: Explanation['caller'], mayProbe = true) =>
    traceQuestion(explanation(ANSWERED, caller && { caller }), mayProbe);
  const node = { place: 'node' as const, ip: '192.168.0.2', how: '', isAssumed: false };
  assert.deepEqual(of(node), { from: 'node', to, isSent: true });
  assert.deepEqual(of(node, false), { from: 'node', to, isSent: false }, 'sending is probing');
  const unknown = { ...explanation(ANSWERED, { caller: node }), target: undefined } as unknown as Explanation;
  assert.equal(traceQuestion(unknown, true).isSent, false, 'the node sends only to Services');
  assert.deepEqual(of({ place: 'pod', ip: '10.244.1.9', how: '', isAssumed: true }), { from: '', to, isSent: true });
  assert.deepEqual(of({ place: 'outside', how: '', isAssumed: false }), { from: '', to, isSent: false });
});

test('PAGE-81 PAGE-86 the way says what the socket translates, and a trace follows the packet to an endpoint', () => {
  const atSocket = { ...ANSWERED, at: 'socket' } as Outcome;
  assert.deepEqual([wayOf(explanation(ANSWERED)).isAtSocket, wayOf(explanation(atSocket)).isAtSocket], [false, true]);
  const node = { place: 'node' as const, ip: '192.168.0.2', how: '', isAssumed: false };
  assert.deepEqual(traceQuestion(explanation(atSocket, { caller: node }), true), {
    from: 'node',
    to: '10.244.1.10:8080/tcp',
    isSent: false,
  });
  const refused: Outcome = { kind: 'refused', at: 'socket', code: 'no-endpoints', reason: 'none' };
  assert.equal(wayOf(explanation(refused)).end?.title, 'Refused at the socket');
});
