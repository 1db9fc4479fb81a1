import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../test/support/manual-clock.ts';
import type { TracedHeaders, TraceMessage } from '../kernel/nftables/index.ts';
import { Assembler, type ChainVisit } from './assembler.ts';

const TABLE = 'pointsman-trace-1';
const LOOPBACK = { index: 1, type: 772 };
const ETHERNET = { index: 2, type: 1 };

/** A TCP packet to 10.96.0.10, port 80. */
function headers(sequence: number, more: Partial<TracedHeaders> = {}): TracedHeaders {
  const transport = Buffer.from('a0f2005000000001000000005002ffff00000000', 'hex');
  transport.writeUInt32BE(sequence, 4);
  return { network: Buffer.from('4500003c1c4640004006b1e60af401c80a60000a', 'hex'), transport, ...more };
}

function message(id: number, chain: string, more: Partial<TraceMessage> = {}): TraceMessage {
  return {
    family: 'inet',
    table: TABLE,
    chain,
    id,
    type: 'rule',
    protocol: 2,
    handle: 1,
    verdict: { kind: 'continue' },
    mark: 0,
    ...more,
  };
}

const policy = { type: 'policy', verdict: { kind: 'accept' } } as const;

function assemble() {
  const clock = new ManualClock();
  const complete: string[][] = [];
  const completed = (visits: readonly ChainVisit[]) => complete.push(visits.map(({ chain }) => chain));
  return { clock, complete, assembler: new Assembler({ table: TABLE, completed, clock }) };
}

test('TRACE-4 a packet is complete at the end of its last hook, also beside other packets', () => {
  const { assembler, complete } = assemble();
  const oif = { packet: headers(1, { oif: ETHERNET }) };
  assembler.add(message(1, 'mark', { packet: headers(1, { iif: ETHERNET }) }));
  assembler.add(message(2, 'mark', { packet: headers(2, { iif: ETHERNET }) }));
  assembler.add(message(1, 'c', { table: 'other', packet: headers(1) }));
  assembler.add(message(2, 'c', { table: 'other', packet: headers(2) }));
  assembler.add(message(1, 'last-postrouting', { ...oif, ...policy }));
  assert.deepEqual(complete, [['mark', 'c', 'last-postrouting']]);
  assembler.add(message(2, 'last-input', { packet: headers(2), ...policy }));
  assert.deepEqual(complete[1], ['mark', 'c', 'last-input']);
});

test('TRACE-4 a packet that is dropped is complete at once', () => {
  const { assembler, complete } = assemble();
  assembler.add(message(1, 'mark', { packet: headers(1) }));
  assembler.add(message(1, 'c', { table: 'other', packet: headers(1), verdict: { kind: 'drop' } }));
  assert.deepEqual(complete, [['mark', 'c']]);
});

test('TRACE-4 a packet without news for 200 ms is complete', async () => {
  const { assembler, complete, clock } = assemble();
  assembler.add(message(1, 'mark', { packet: headers(1) }));
  await clock.advance(175);
  assembler.add(message(1, 'c', { table: 'other', packet: headers(1) }));
  await clock.advance(175);
  assert.deepEqual(complete, []);
  await clock.advance(25);
  assert.deepEqual(complete, [['mark', 'c']]);
  assert.equal(clock.pending, 0);
});

test('TRACE-4 when a number comes again, the packet before is complete', () => {
  const { assembler, complete } = assemble();
  assembler.add(message(1, 'mark', { packet: headers(1) }));
  assembler.add(message(1, 'mark', { packet: headers(2) }));
  assert.deepEqual(complete, [['mark']]);
  assembler.flush();
  assert.equal(complete.length, 2);
});

test('TRACE-4 a packet that leaves through the loopback interface comes in again with another number', () => {
  const { assembler, complete } = assemble();
  assembler.add(message(1, 'mark', { packet: headers(1, { oif: LOOPBACK }) }));
  assembler.add(message(1, 'last-postrouting', { packet: headers(1, { oif: LOOPBACK }), ...policy }));
  assert.deepEqual(complete, []);
  assembler.add(message(9, 'mark-prerouting', { packet: headers(1, { iif: LOOPBACK }) }));
  assembler.add(message(9, 'last-input', { packet: headers(1, { iif: LOOPBACK }), ...policy }));
  assert.deepEqual(complete, [['mark', 'last-postrouting', 'mark-prerouting', 'last-input']]);
});

test('TRACE-4 a packet that a bridge gives to the IP layer goes on with another number', () => {
  const { assembler, complete } = assemble();
  assembler.add(message(1, 'mark', { packet: headers(1, { iif: ETHERNET }) }));
  assembler.add(message(7, 'c', { table: 'other', packet: headers(1), verdict: { kind: 'drop' } }));
  assert.deepEqual(complete, [['mark', 'c']]);
});

test('TRACE-4 a packet that ipvs sends out again is marked again, and stays one packet', () => {
  const { assembler, complete } = assemble();
  assembler.add(message(1, 'mark', { packet: headers(1, { iif: ETHERNET }) }));
  assembler.add(message(1, 'mark', { packet: headers(1, { iif: ETHERNET, oif: ETHERNET }) }));
  assembler.add(message(1, 'last-postrouting', { packet: headers(1, { oif: ETHERNET }), ...policy }));
  assert.deepEqual(complete, [['mark', 'mark', 'last-postrouting']]);
});

test('TRACE-4 packets that only another program traces are ignored, and one that both trace is not', () => {
  const { assembler, complete } = assemble();
  assembler.add(message(1, 'p', { table: 'other', packet: headers(1) }));
  assembler.add(message(1, 'mark-prerouting', { packet: headers(1), ...policy }));
  assembler.flush();
  assert.deepEqual(complete, []);
  const jump = { kind: 'jump', chain: 'mark' } as const;
  assembler.add(message(2, 'mark-prerouting', { packet: headers(2), verdict: jump }));
  assembler.flush();
  assert.deepEqual(complete, [['mark-prerouting']]);
});
