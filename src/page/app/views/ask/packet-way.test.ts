import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChainStep, TracedLine, TracedPacket } from '../../../../trace/index.ts';
import type { TraceLine } from '../../../index.ts';
import { packetWay } from './packet-way.ts';
import { OPENING, packetToShow, stopped, traceText, withLine } from './trace-state.ts';

const FIRST = { source: '10.244.1.7:4000', destination: '10.96.0.10:80' };
const NATTED = { source: '10.244.1.7:4000', destination: '10.244.2.3:8080' };
const LAST = { source: '192.168.0.2:999', destination: '10.244.2.3:8080' };

function chain(hook: ChainStep['hook'], name: string): ChainStep {
  return { kind: 'chain', hook, priority: 0, table: 'ip kube-proxy', chain: name, outInterface: undefined, rules: [] };
}

const PACKET: TracedPacket = {
  at: 0,
  protocol: 'tcp',
  tcpFlags: 'SYN',
  first: FIRST,
  last: LAST,
  inInterface: 'cni0',
  services: ['default/web'],
  steps: [
    chain('prerouting', 'pre-dnat'),
    chain('prerouting', 'nat'),
    { kind: 'rewrite', from: FIRST, to: NATTED },
    chain('forward', 'filter'),
    chain('postrouting', 'nat'),
    { kind: 'rewrite', from: NATTED, to: LAST },
  ],
  skipsNat: false,
  flow: undefined,
  outcome: { kind: 'left', interface: 'eth0' },
};

test('PAGE-86 hooks are stations in order, with their chains and the changes of the addresses', () => {
  const { start, hooks, end } = packetWay(PACKET);
  assert.equal(start, 'came in through cni0');
  assert.deepEqual(
    hooks.map(({ hook, events }) => [hook, events.map(event => (event.kind === 'chain' ? event.chain : event.what))]),
    [
      ['prerouting', ['pre-dnat', 'nat', 'destination']],
      ['forward', ['filter']],
      ['postrouting', ['nat', 'source']],
    ],
  );
  assert.deepEqual(
    hooks.map(({ ends, isSourceNew, isDestinationNew }) => [ends.destination, isSourceNew, isDestinationNew]),
    [
      ['10.96.0.10:80', false, false],
      ['10.244.2.3:8080', false, true],
      ['10.244.2.3:8080', false, false],
    ],
  );
  assert.deepEqual(end, { verdict: 'good', text: 'left through eth0', ends: LAST });
});

test('PAGE-86 the end says what dropped a packet, or after which hook it was lost', () => {
  const rule = { chain: 'guard' } as never;
  const dropped = { kind: 'dropped', table: 'inet firewalld', rule, baseChain: 'forward' } as const;
  const of = (outcome: TracedPacket['outcome']) => packetWay({ ...PACKET, outcome, inInterface: undefined });
  assert.equal(of(dropped).start, 'sent by this node');
  assert.deepEqual(of(dropped).end.text, 'dropped by table inet firewalld, chain guard');
  assert.deepEqual(of(dropped).end.verdict, 'bad');
  assert.match(of({ kind: 'lost', after: 'forward' }).end.text, /^lost after forward/);
  assert.equal(of({ kind: 'delivered' }).end.verdict, 'good');
});

function line(number: number, skipsNat: boolean): TracedLine {
  return { ...PACKET, kind: 'packet', number, at: '2026-11-16T12:00:00.000Z', summary: '', skipsNat };
}

test('PAGE-86 until the reader chooses one, the newest packet that met the nat chains is shown', () => {
  assert.equal(packetToShow([line(3, true), line(2, false), line(1, false)])?.number, 2);
  assert.equal(packetToShow([line(2, true), line(1, true)])?.number, 2);
  assert.equal(packetToShow([]), undefined);
});

test('PAGE-84 the page shows the lines of a trace as they come', () => {
  const head = { schema: 'pointsman.trace/v1', name: 'from this node to 10.96.0.10:80/tcp', seconds: 60, packets: 200 };
  const sent: TraceLine = { kind: 'sent', to: '10.96.0.10:80', protocol: 'TCP', outcome: 'connected', ms: 1 };
  const running = [head, line(1, false), sent, line(2, true)].reduce(withLine, OPENING);
  assert.deepEqual(
    [running.phase, running.packets.map(({ number }) => number), running.sent],
    ['running', [2, 1], sent],
  );
  assert.equal(traceText(running), 'Following packets from this node to 10.96.0.10:80/tcp: 2 packets.');
  const ended = withLine(running, { kind: 'end', packets: 2, overruns: 3 });
  assert.deepEqual([ended.phase, ended.overruns, traceText(ended)], ['ended', 3, 'The trace ended after 2 packets.']);
  const failed = withLine(running, { kind: 'failed', error: 'the socket is gone' });
  assert.deepEqual([stopped(failed).phase, failed.error], ['failed', 'the socket is gone']);
});
