import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageWriter, readMessages } from '../netlink/index.ts';
import { decodeTrace, encodeTrace, type TraceMessage } from './trace-message.ts';

/** Bodies of messages that Linux 6.18 sent. A datagram to 127.0.0.1:53 goes through these steps. */
const RECORDED: readonly { readonly what: string; readonly hex: string; readonly trace: TraceMessage }[] = [
  {
    what: 'a rule in a base chain, with the packet',
    hex: `0100000008000f0000000002080004000000000308000600c712a5b6060002006f00000007000100747400000c000300000000
          00000000060c00050008000100ffffffff08000c000000000106000d0003040000180008004500001f455240004011f7797f0000
          017f0000010f000900af670035000bfe1e68690a00`,
    trace: {
      family: 'inet',
      table: 'tt',
      chain: 'o',
      id: 0xc712a5b6,
      type: 'rule',
      protocol: 2,
      handle: 6,
      verdict: { kind: 'continue' },
      mark: 0,
      packet: {
        oif: { index: 1, type: 772 },
        network: Buffer.from('4500001f455240004011f7797f0000017f000001', 'hex'),
        transport: Buffer.from('af670035000bfe1e68690a', 'hex'),
      },
    },
  },
  {
    what: 'the end of a chain',
    hex: `0100000008000f0000000002080004000000000308000600c712a5b6060002006f00000007000100747400000c0005000800
          0100ffffffff`,
    trace: {
      family: 'inet',
      table: 'tt',
      chain: 'o',
      id: 0xc712a5b6,
      type: 'rule',
      protocol: 2,
      verdict: { kind: 'continue' },
      mark: 0,
    },
  },
  {
    what: 'the policy of a base chain',
    hex: '0200000008000f00000000020800040000000001080006004565fabe060002006900000006000100660000000800100000000000',
    trace: {
      family: 'ip',
      table: 'f',
      chain: 'i',
      id: 0x4565fabe,
      type: 'policy',
      protocol: 2,
      verdict: { kind: 'drop' },
      mark: 0,
    },
  },
  {
    what: 'a rule that drops a packet from the loopback interface, with its connection',
    hex: `0200000008000f00000000020800040000000003080006007614c3390a000200494e5055540000000b00010066696c7465720000
          0c00030000000000000000020c000500080001000000000008000a000000000106000b0003040000180008004500001f4552400040
          11f7797f0000017f0000010f000900af6714e9000bfe1e68690a0012000700000000000000000000000000080000000800150000
          000008050013000000000008001200dbb3582008001400000001a8`,
    trace: {
      family: 'ip',
      table: 'filter',
      chain: 'INPUT',
      id: 0x7614c339,
      type: 'rule',
      protocol: 2,
      handle: 2,
      verdict: { kind: 'drop' },
      mark: 0,
      packet: {
        iif: { index: 1, type: 772 },
        network: Buffer.from('4500001f455240004011f7797f0000017f000001', 'hex'),
        transport: Buffer.from('af6714e9000bfe1e68690a', 'hex'),
        link: Buffer.from('0000000000000000000000000800', 'hex'),
      },
      connection: { id: 0xdbb35820, isReply: false, status: 0x1a8, state: 8 },
    },
  },
];

const TRACE = 0x0a11;

for (const { what, hex, trace } of RECORDED) {
  const body = Buffer.from(hex.replaceAll(/\s/g, ''), 'hex');

  test(`TRACE-1 decodes a message of the kernel: ${what}`, () => {
    assert.deepEqual(decodeTrace({ type: TRACE, flags: 0, sequence: 0, body }), trace);
  });

  test(`TRACE-1 encodes the same bytes, for tests: ${what}`, () => {
    const writer = new MessageWriter();
    encodeTrace(writer, trace);
    // The kernel does not set the bit for nested attributes here.
    const [encoded] = [...readMessages(writer.bytes)];
    assert.equal(encoded?.type, TRACE);
    assert.equal(encoded?.body.toString('hex').replaceAll('0580', '0500'), body.toString('hex'));
  });

  test(`TRACE-1 a message that is cut short never throws: ${what}`, () => {
    for (let length = 0; length < body.length; length++) {
      decodeTrace({ type: TRACE, flags: 0, sequence: 0, body: body.subarray(0, length) });
    }
  });
}

test('TRACE-1 jumps name their chain, and other messages are ignored', () => {
  const writer = new MessageWriter();
  const jump: TraceMessage = {
    family: 'bridge',
    table: 't',
    chain: 'c',
    id: 1,
    type: 'rule',
    protocol: 7,
    handle: 3,
    verdict: { kind: 'goto', chain: 'services' },
    mark: 0x4000,
  };
  encodeTrace(writer, jump);
  const [message] = [...readMessages(writer.bytes)];
  assert.ok(message);
  assert.deepEqual(decodeTrace(message), jump);
  assert.equal(decodeTrace({ ...message, type: 0x0a0f }), undefined);
});
