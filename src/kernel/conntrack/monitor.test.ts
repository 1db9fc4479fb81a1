import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printFlow } from './flow.ts';
import { decodeFlowEvent } from './monitor.ts';

const TUPLES = (client: string, server: string) => `
  34000180 14000180 08000100 c0a80002 08000200 c0a80002
  1c000280 05000100 06000000 06000200 ${client}0000 06000300 ${server}0000
  34000280 14000180 08000100 c0a80002 08000200 c0a80002
  1c000280 05000100 06000000 06000200 ${server}0000 06000300 ${client}0000`;

/** What the kernel sent, and the lines that `conntrack -E -o id` printed for it. */
const CASES = [
  {
    type: 0x100,
    flags: 0x600,
    body: `02000000 ${TUPLES('d112', '1f90')} 08000c00 77404b3b 08000300 00000008 08000700 00000078
      30000480 2c000180 05000100 01000000 05000200 0a000000 05000300 00000000 06000400 03000000 06000500 00000000`,
    line: '[NEW] tcp      6 120 SYN_SENT src=192.168.0.2 dst=192.168.0.2 sport=53522 dport=8080 [UNREPLIED] src=192.168.0.2 dst=192.168.0.2 sport=8080 dport=53522 id=2000702267',
  },
  {
    type: 0x100,
    flags: 0,
    body: `02000000 ${TUPLES('d112', '1f90')} 08000c00 77404b3b 08000300 0000000a 08000700 0000003c
      30000480 2c000180 05000100 02000000 05000200 0a000000 05000300 0a000000 06000400 03000000 06000500 23000000`,
    line: '[UPDATE] tcp      6 60 SYN_RECV src=192.168.0.2 dst=192.168.0.2 sport=53522 dport=8080 src=192.168.0.2 dst=192.168.0.2 sport=8080 dport=53522 id=2000702267',
  },
  {
    type: 0x102,
    flags: 0,
    body: `02000000 ${TUPLES('b028', '1f91')} 08000c00 31921ec0 08000300 00000208 08000700 00000078
      10000480 0c000180 05000100 08000000`,
    line: '[DESTROY] tcp      6 120 CLOSE src=192.168.0.2 dst=192.168.0.2 sport=45096 dport=8081 [UNREPLIED] src=192.168.0.2 dst=192.168.0.2 sport=8081 dport=45096 id=831659712',
  },
];
const WORDS = { new: '[NEW]', updated: '[UPDATE]', destroyed: '[DESTROY]' };

for (const { type, flags, body, line } of CASES) {
  test(`KERNEL-1 decodes the event that conntrack prints as ${line.slice(0, line.indexOf(' '))}`, () => {
    const event = decodeFlowEvent({ type, flags, body: Buffer.from(body.replaceAll(/\s/g, ''), 'hex') });
    assert.ok(event);
    assert.equal(`${WORDS[event.type]} ${printFlow(event.flow)} id=${event.flow.id}`, line);
  });
}

test('KERNEL-1 other messages and broken events are no events', () => {
  const [{ body = '' } = {}] = CASES;
  const bytes = Buffer.from(body.replaceAll(/\s/g, ''), 'hex');
  assert.equal(decodeFlowEvent({ type: 0x101, flags: 0, body: bytes }), undefined);
  for (let length = 0; length < 100; length++) {
    assert.equal(decodeFlowEvent({ type: 0x100, flags: 0, body: bytes.subarray(0, length) }), undefined);
  }
});
