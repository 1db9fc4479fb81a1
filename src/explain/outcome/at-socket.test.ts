import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { service, slice } from '../../../test/support/objects.ts';
import { address, CALLERS, codesOf, NodeUnderTest, textOf } from '../../../test/support/outcomes.ts';
import { caseSettings } from '../../../test/traffic/settings.ts';
import { caseMode } from '../../../test/traffic/start-proxy.ts';
import { socketBehaviour } from '../../modes/ebpf/explained/socket-behaviour.ts';
import type { Caller } from '../caller.ts';
import type { Outcome } from '../outcome.ts';
import { type AtSocket, atSocket } from './at-socket.ts';

const near = { ip: '10.244.1.2', nodeName: 'node-a' };
const far = { ip: '10.244.2.3', nodeName: 'other-node' };
const { pod, node, outside } = CALLERS;
const endpoint: Caller = { place: 'pod', ip: address('10.244.1.2') };

const web = service('web', {
  type: 'LoadBalancer',
  clusterIP: '10.96.0.10',
  externalIPs: ['198.51.100.10'],
  ingress: [{ ip: '203.0.113.10' }],
  ports: [{ nodePort: 30080 }],
});
const OBJECTS = [
  web,
  slice('web-1', [near, far]),
  service('local', {
    type: 'NodePort',
    clusterIP: '10.96.0.11',
    externalTrafficPolicy: 'Local',
    ports: [{ nodePort: 30081 }],
  }),
  slice('local-1', [far]),
  service('inside', { clusterIP: '10.96.0.12', internalTrafficPolicy: 'Local' }),
  slice('inside-1', [far]),
  service('empty', { clusterIP: '10.96.0.13' }),
  service('guarded', {
    type: 'LoadBalancer',
    clusterIP: '10.96.0.14',
    ingress: [{ ip: '203.0.113.14' }],
    loadBalancerSourceRanges: ['10.244.0.0/16'],
  }),
  slice('guarded-1', [near]),
  service('dns', { clusterIP: '10.96.0.53', ports: [{ port: 53, protocol: 'UDP' }] }),
  slice('dns-1', [near], { ports: [{ name: '', port: 53, protocol: 'UDP' }] }),
];

const usual = new NodeUnderTest(OBJECTS);

/** `10.244.1.2:8080 as itself`, or the reason why the socket leaves the connection. */
function brief(found: AtSocket | undefined): string {
  if (!found || found.kind === 'left') return found?.reason ?? 'no sockets';
  return outcomeText(found.outcome);
}

function outcomeText(outcome: Outcome): string {
  if (outcome.kind !== 'answered') return `${outcome.kind} ${outcome.code}`;
  return outcome.endpoints.map(({ text, seenAs }) => `${text} as ${seenAs}`).join(', ');
}

function socket(caller: Caller, destination: string, tested = usual): string {
  return brief(atSocket(tested.input(caller, destination, 'ebpf')));
}

describe('connections at sockets', () => {
  test('OUTCOME-9 endpoints see the pod itself, whichever address of the Service it calls', () => {
    for (const to of ['10.96.0.10 80', '198.51.100.10 80', '203.0.113.10 80', '192.168.0.2 30080']) {
      assert.equal(socket(pod, to), '10.244.1.2:8080 as itself, 10.244.2.3:8080 as itself', to);
      assert.equal(socket(node, to), '10.244.1.2:8080 as node, 10.244.2.3:8080 as node', to);
      assert.match(socket(outside, to), /^the caller is not on this node/, to);
    }
    const outcome = usual.outcome(pod, '192.168.0.2 30080', 'ebpf');
    assert.deepEqual(codesOf(outcome), ['at-socket', 'source-kept']);
    assert.match(textOf(outcome), /^the kernel replaces the address inside connect\(\), before any packet\n/);
    assert.ok(outcome.kind === 'answered' && outcome.at === 'socket');
    assert.ok(!('at' in usual.outcome(outside, '10.96.0.10 80', 'ebpf')), 'packets from outside are translated');
  });

  test('BALANCE-57 weights decide the odds, and an endpoint of weight 0 does not answer', () => {
    const annotations = { 'pointsman.dev/balance': 'weighted', 'pointsman.dev/weights': '10.244.1.2=3,10.244.2.4=0' };
    const weighted = service('web', { clusterIP: '10.96.0.10', annotations });
    const endpoints = [near, far, { ip: '10.244.2.4', nodeName: 'other-node' }];
    const outcome = new NodeUnderTest([weighted, slice('web-1', endpoints)]).outcome(pod, '10.96.0.10 80', 'ebpf');
    assert.ok(outcome.kind === 'answered');
    assert.deepEqual(
      outcome.endpoints.map(({ text, odds }) => [text, odds]),
      [
        ['10.244.1.2:8080', 0.75],
        ['10.244.2.3:8080', 0.25],
      ],
    );
  });

  test('BALANCE-58 the reason names the algorithm that rules must do', () => {
    for (const [algorithm, reason] of [
      ['round-robin', 'rules take the turns of round-robin'],
      ['consistent-hash', 'rules hash the client for consistent-hash'],
    ] as const) {
      const chosen = service('web', { clusterIP: '10.96.0.10', annotations: { 'pointsman.dev/balance': algorithm } });
      assert.equal(socket(pod, '10.96.0.10 80', new NodeUnderTest([chosen, slice('web-1', [near, far])])), reason);
      assert.equal(socket(pod, '10.96.0.10 80', new NodeUnderTest([chosen])), 'refused no-endpoints');
    }
  });

  test('OUTCOME-9 a pod that reaches itself stays inside', () => {
    const outcome = usual.outcome(endpoint, '10.96.0.10 80', 'ebpf');
    assert.deepEqual(codesOf(outcome), ['at-socket', 'inside-pod', 'source-kept']);
    assert.equal(outcomeText(outcome), '10.244.1.2:8080 as itself, 10.244.2.3:8080 as itself');
    const alone = new NodeUnderTest([web, slice('web-1', [near])]).outcome(endpoint, '10.96.0.10 80', 'ebpf');
    assert.deepEqual(codesOf(alone), ['at-socket', 'inside-pod']);
  });

  test('OUTCOME-9 policy Local: pods and the node reach all endpoints of external addresses', () => {
    for (const caller of [pod, node]) {
      const outcome = usual.outcome(caller, '192.168.0.2 30081', 'ebpf');
      assert.deepEqual(codesOf(outcome).slice(0, 2), ['at-socket', 'short-circuit']);
    }
    const blind = new NodeUnderTest(OBJECTS, { plan: { clusterCIDRs: [] } });
    assert.equal(socket(node, '192.168.0.2 30081', blind), '10.244.2.3:8080 as node');
    assert.match(socket(pod, '192.168.0.2 30081', blind), /^rules cannot recognise pods/);
  });

  test('OUTCOME-9 without endpoints the socket refuses at once', () => {
    const outcome = usual.outcome(pod, '10.96.0.13 80', 'ebpf');
    assert.deepEqual(outcome, {
      kind: 'refused',
      at: 'socket',
      code: 'no-endpoints',
      reason: 'no endpoint of default/empty can serve',
    });
  });

  test('OUTCOME-9 the socket leaves to rules what it cannot decide', () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['10.96.0.53 53 UDP', /^sockets serve TCP only, and this is UDP$/],
      ['203.0.113.14 80', /^rules must check loadBalancerSourceRanges$/],
      ['10.96.0.12 80', /^no endpoint is on this node, and rules drop such packets$/],
      ['10.96.0.10 81', /^no Service has this address and port$/],
      ['10.244.1.1 30080', /^sockets do not serve node ports at 10\.244\.1\.1$/],
      ['127.0.0.1 30080', /^sockets do not serve node ports at 127\.0\.0\.1$/],
    ];
    for (const [to, reason] of cases) assert.match(socket(node, to), reason);
    for (const [to] of cases) {
      assert.deepEqual(usual.outcome(node, to, 'ebpf'), usual.outcome(node, to, 'nftables'), 'then rules decide');
    }
  });

  test('OUTCOME-9 masqueradeAll leaves pods to the rules', () => {
    const all = new NodeUnderTest(OBJECTS, { plan: { masqueradeAll: true } });
    assert.match(socket(pod, '10.96.0.10 80', all), /^masqueradeAll asks the node/);
    assert.equal(socket(node, '10.96.0.10 80', all), '10.244.1.2:8080 as node, 10.244.2.3:8080 as node');
  });

  test('OUTCOME-9 the node reaches node ports at loopback if nodePortAddresses names it', () => {
    const loopback = new NodeUnderTest(OBJECTS, { nodePortAddresses: ['localhost'] });
    for (const to of ['127.0.0.1 30080']) {
      assert.equal(socket(node, to, loopback), '10.244.1.2:8080 as node, 10.244.2.3:8080 as node');
      assert.match(socket(pod, to, loopback), /^sockets do not serve node ports/);
    }
    assert.equal(loopback.outcome(pod, '127.0.0.1 30080', 'ebpf').kind, 'elsewhere');
  });

  test('OUTCOME-9 with sockets of the node only, pods are left to the rules', () => {
    const mode = caseMode(caseSettings({}, 'ebpf'));
    const behaviour = { ...mode.behaviour, atSockets: socketBehaviour('node') };
    const tested = new NodeUnderTest(OBJECTS, { mode: { ...mode, behaviour } });
    assert.equal(socket(pod, '10.96.0.10 80', tested), 'the mode serves only sockets of the node itself');
    assert.equal(socket(node, '10.96.0.10 80', tested), '10.244.1.2:8080 as node, 10.244.2.3:8080 as node');
  });

  test('OUTCOME-9 session affinity is by network namespace, and least connections compares endpoints', () => {
    const sticky = service('web', {
      clusterIP: '10.96.0.10',
      sessionAffinity: 'ClientIP',
      annotations: { 'pointsman.dev/balance': 'least-connections' },
    });
    const tested = new NodeUnderTest([sticky, slice('web-1', [near, far])]);
    const outcome = tested.outcome(node, '10.96.0.10 80', 'ebpf');
    assert.deepEqual(codesOf(outcome), ['at-socket', 'affinity', 'balance', 'least-connections', 'own-connection']);
    assert.match(textOf(outcome), /all processes of the node are one client/);
    assert.match(textOf(tested.outcome(pod, '10.96.0.10 80', 'ebpf')), /all processes of a pod are one client/);
    assert.ok(outcome.kind === 'answered' && outcome.isSticky && outcome.endpoints[0]?.odds === undefined);
  });

  test('OUTCOME-9 least connections compares all of 16 endpoints, and two of 17', () => {
    const annotations = { 'pointsman.dev/balance': 'least-connections' };
    const textWith = (count: number) => {
      const pods = Array.from({ length: count }, (_, i) => `10.244.2.${i + 1}`);
      const objects = [service('web', { clusterIP: '10.96.0.10', annotations }), slice('web-1', pods)];
      return textOf(new NodeUnderTest(objects).outcome(node, '10.96.0.10 80', 'ebpf'));
    };
    assert.match(textWith(16), /takes the endpoint with fewest connections from this node/);
    assert.match(textWith(17), /chance picks two endpoints/);
  });

  test('OUTCOME-9 modes without sockets say nothing about them', () => {
    assert.equal(atSocket(usual.input(pod, '10.96.0.10 80', 'nftables')), undefined);
  });
});
