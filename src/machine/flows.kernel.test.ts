import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withNamespace } from '../../test/support/namespaces.ts';
import { ConntrackSocket, type Flow, L4, Status } from '../kernel/conntrack/index.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import { familyOf, type Ip } from '../net/index.ts';
import { findFlows, type Packet } from './index.ts';

const ip = (text: string) => text as Ip;

interface FlowText {
  readonly caller: string;
  readonly called: string;
  readonly answers: string;
  readonly more?: Partial<Flow>;
}

/** A flow from `caller` to `called` that `answers` answers, each as address and port. */
function flow(protocol: number, { caller, called, answers, more }: FlowText): Flow {
  const [from, to, back] = [caller, called, answers].map(text => {
    const at = text.lastIndexOf(' ');
    return { ip: ip(text.slice(0, at)), port: Number(text.slice(at + 1)) };
  });
  if (!from || !to || !back) assert.fail();
  return {
    family: familyOf(from.ip),
    protocol,
    original: { src: from.ip, dst: to.ip, srcPort: from.port, dstPort: to.port },
    reply: { src: back.ip, dst: from.ip, srcPort: back.port, dstPort: from.port },
    timeout: 100,
    status: Status.CONFIRMED,
    ...more,
  };
}

async function add(namespace: NetworkNamespace, flows: readonly Flow[]): Promise<void> {
  const socket = ConntrackSocket.open({ namespace });
  try {
    assert.deepEqual(await socket.create(flows), []);
  } finally {
    socket.close();
  }
}

const DNS: Packet = {
  family: 'IPv4',
  protocol: 'UDP',
  source: ip('10.244.0.5'),
  destination: ip('10.96.0.10'),
  port: 53,
};

test('MACHINE-1 a UDP flow that is pinned to an endpoint is found, and flows of others are not', () =>
  withNamespace(async namespace => {
    await add(namespace, [
      flow(L4.UDP, { caller: '10.244.0.5 4000', called: '10.96.0.10 53', answers: '10.244.1.9 5353' }),
      flow(L4.UDP, { caller: '10.244.0.6 4000', called: '10.96.0.10 53', answers: '10.244.1.9 5353' }),
      flow(L4.UDP, { caller: '10.244.0.5 4001', called: '10.96.0.10 54', answers: '10.244.1.9 5353' }),
      flow(L4.UDP, { caller: '10.244.0.5 4002', called: '10.96.0.11 53', answers: '10.244.1.9 5353' }),
      flow(L4.TCP, {
        caller: '10.244.0.5 4000',
        called: '10.96.0.10 53',
        answers: '10.244.1.9 5353',
        more: { state: 'ESTABLISHED' },
      }),
    ]);
    const { flows, incomplete } = await findFlows(DNS, { namespace });
    assert.equal(incomplete, undefined);
    assert.equal(flows.length, 1);
    const { secondsLeft = 0, text, ...rest } = flows[0] ?? assert.fail();
    assert.deepEqual(rest, {
      caller: '10.244.0.5',
      callerPort: 4000,
      target: '10.244.1.9',
      targetPort: 5353,
      isTranslated: true,
      isSourceReplaced: false,
      state: undefined,
      isUnreplied: true,
    });
    assert.ok(secondsLeft > 50 && secondsLeft <= 100, `${secondsLeft}`);
    assert.match(
      text,
      /^udp +17 \d+ src=10\.244\.0\.5 dst=10\.96\.0\.10 sport=4000 dport=53 \[UNREPLIED\] src=10\.244\.1\.9/,
    );
    assert.equal((await findFlows({ ...DNS, source: undefined }, { namespace })).flows.length, 2);
  }));

test('MACHINE-2 a flow that is not translated differs from one whose source is replaced', () =>
  withNamespace(async namespace => {
    const status = Status.CONFIRMED | Status.SEEN_REPLY | Status.ASSURED;
    const more = { state: 'ESTABLISHED', status } as const;
    const masked = flow(L4.TCP, { caller: '10.244.0.5 4001', called: '10.96.0.10 53', answers: '10.244.1.9 53', more });
    await add(namespace, [
      flow(L4.TCP, { caller: '10.244.0.5 4000', called: '10.96.0.10 53', answers: '10.96.0.10 53', more }),
      { ...masked, reply: { ...masked.reply, dst: ip('192.168.0.2'), dstPort: 999 } },
    ]);
    const { flows } = await findFlows({ ...DNS, protocol: 'TCP' }, { namespace });
    assert.deepEqual(
      flows
        .map(({ callerPort, isTranslated, isSourceReplaced, isUnreplied, state }) => ({
          callerPort,
          isTranslated,
          isSourceReplaced,
          isUnreplied,
          state,
        }))
        .sort((a, b) => a.callerPort - b.callerPort),
      [
        { callerPort: 4000, isTranslated: false, isSourceReplaced: false, isUnreplied: false, state: 'ESTABLISHED' },
        { callerPort: 4001, isTranslated: true, isSourceReplaced: true, isUnreplied: false, state: 'ESTABLISHED' },
      ],
    );
  }));

test('MACHINE-3 the search ends at a limit and says so', () =>
  withNamespace(async namespace => {
    const many = Array.from({ length: 30 }, (_, i) => `10.244.0.5 ${4000 + i}`);
    await add(
      namespace,
      many.map(caller => flow(L4.UDP, { caller, called: '10.96.0.10 53', answers: '10.244.1.9 5353' })),
    );
    assert.equal((await findFlows(DNS, { namespace, limit: 30 })).incomplete, undefined);
    const cut = await findFlows(DNS, { namespace, limit: 29 });
    assert.equal(cut.flows.length, 29);
    assert.equal(cut.incomplete, 'there are more than 29 flows');
  }));

test('MACHINE-3 the search ends when the kernel sends too many flows that nobody asked for', () =>
  withNamespace(async namespace => {
    // The kernel cannot compare IPv6 addresses, so it sends every flow to the port.
    const packet: Packet = { ...DNS, family: 'IPv6', source: ip('fd00::5'), destination: ip('fd00::a') };
    const others = Array.from({ length: 50 }, (_, i) => `fd00::${(i + 1).toString(16)}:0 4000`);
    await add(namespace, [
      ...others.map(caller => flow(L4.UDP, { caller, called: 'fd00::b 53', answers: 'fd00::9 53' })),
      flow(L4.UDP, { caller: 'fd00::5 4000', called: 'fd00::a 53', answers: 'fd00::9 5353' }),
    ]);
    const whole = await findFlows(packet, { namespace });
    assert.deepEqual([whole.flows.length, whole.incomplete], [1, undefined]);
    const cut = await findFlows(packet, { namespace, maxReceived: 10 });
    assert.match(cut.incomplete ?? '', /^the kernel sent 10 flows/);
  }));
