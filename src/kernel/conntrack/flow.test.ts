import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Family, type Ip, parseIp } from '../../net/index.ts';
import { Flag, MessageWriter } from '../netlink/index.ts';
import { CtMessage } from './attributes.ts';
import { decodeFlow, encodeFlow, type Flow, printFlow } from './flow.ts';
import { L4 } from './protocol.ts';
import { Status } from './status.ts';
import type { FlowTuple } from './tuple.ts';

const tuple = (src: string, srcPort: number, dst: string, dstPort: number): FlowTuple => ({
  src: src as Ip,
  dst: dst as Ip,
  srcPort,
  dstPort,
});

const dnat: Flow = {
  family: 'IPv4',
  protocol: L4.UDP,
  original: tuple('10.0.0.1', 1000, '10.96.0.1', 53),
  reply: tuple('10.1.0.5', 5353, '10.0.0.1', 1000),
  timeout: 100,
};

function create(flow: Flow): string {
  const writer = new MessageWriter().begin(CtMessage.NEW, Flag.REQUEST | Flag.ACK | Flag.CREATE | Flag.EXCL, 1);
  encodeFlow(writer, flow);
  return writer.end().bytes.toString('hex');
}

const hex = (...parts: string[]) => parts.join('').replaceAll(' ', '');

// The expected bytes are those of `conntrack -I` 1.4.7, with sequence number 1. conntrack leaves its padding
// uninitialised; here the padding is zero.

test('KERNEL-1 creates a UDP flow with a translated destination as conntrack -I does', () => {
  const expected = hex(
    '84000000 0001 0506 01000000 00000000 02000000',
    '34000180 14000180 08000100 0a000001 08000200 0a600001',
    '1c000280 05000100 11000000 06000200 03e80000 06000300 00350000',
    '34000280 14000180 08000100 0a010005 08000200 0a000001',
    '1c000280 05000100 11000000 06000200 14e90000 06000300 03e80000',
    '08000700 00000064',
  );
  assert.equal(create(dnat), expected);
});

test('KERNEL-1 creates an IPv6 flow as conntrack -I does', () => {
  const flow: Flow = {
    family: 'IPv6',
    protocol: L4.UDP,
    original: tuple('fd00::1', 1, 'fd00::2', 2),
    reply: tuple('fd00::2', 2, 'fd00::1', 1),
    timeout: 100,
  };
  const one = 'fd000000000000000000000000000001';
  const two = 'fd000000000000000000000000000002';
  const expected = hex(
    'b4000000 0001 0506 01000000 00000000 0a000000',
    `4c000180 2c000180 14000300 ${one} 14000400 ${two}`,
    '1c000280 05000100 11000000 06000200 00010000 06000300 00020000',
    `4c000280 2c000180 14000300 ${two} 14000400 ${one}`,
    '1c000280 05000100 11000000 06000200 00020000 06000300 00010000',
    '08000700 00000064',
  );
  assert.equal(create(flow), expected);
});

test('KERNEL-1 creates a TCP flow with state, status, mark and zone as conntrack -I does', () => {
  const flow: Flow = {
    family: 'IPv4',
    protocol: L4.TCP,
    original: tuple('10.0.0.1', 1, '10.0.0.2', 2),
    reply: tuple('10.0.0.2', 2, '10.0.0.1', 1),
    timeout: 100,
    state: 'ESTABLISHED',
    status: Status.SEEN_REPLY | Status.ASSURED | Status.CONFIRMED,
    mark: 5,
    zone: 3,
  };
  const expected = hex(
    'bc000000 0001 0506 01000000 00000000 02000000',
    '34000180 14000180 08000100 0a000001 08000200 0a000002',
    '1c000280 05000100 06000000 06000200 00010000 06000300 00020000',
    '34000280 14000180 08000100 0a000002 08000200 0a000001',
    '1c000280 05000100 06000000 06000200 00020000 06000300 00010000',
    '08000300 0000000e 08000700 00000064 08000800 00000005',
    '20000480 1c000180 05000100 03000000 06000400 0a0a0000 06000500 0a0a0000',
    '06001200 00030000',
  );
  assert.equal(create(flow), expected);
});

test('KERNEL-1 creates ICMP and ICMPv6 flows as conntrack -I does', () => {
  const icmp: Flow = {
    family: 'IPv4',
    protocol: L4.ICMP,
    original: { ...tuple('10.0.0.1', 0, '10.0.0.2', 0), icmp: { type: 8, code: 0, id: 77 } },
    reply: { ...tuple('10.0.0.2', 0, '10.0.0.1', 0), icmp: { type: 0, code: 0, id: 77 } },
    timeout: 100,
  };
  const expected = hex(
    '94000000 0001 0506 01000000 00000000 02000000',
    '3c000180 14000180 08000100 0a000001 08000200 0a000002',
    '24000280 05000100 01000000 05000600 00000000 05000500 08000000 06000400 004d0000',
    '3c000280 14000180 08000100 0a000002 08000200 0a000001',
    '24000280 05000100 01000000 05000600 00000000 05000500 00000000 06000400 004d0000',
    '08000700 00000064',
  );
  assert.equal(create(icmp), expected);
  const v6 = create({
    family: 'IPv6',
    protocol: L4.ICMPV6,
    original: { ...tuple('fd00::1', 0, 'fd00::2', 0), icmp: { type: 128, code: 0, id: 77 } },
    reply: { ...tuple('fd00::2', 0, 'fd00::1', 0), icmp: { type: 129, code: 0, id: 77 } },
  });
  assert.ok(v6.includes(hex('24000280 05000100 3a000000 05000900 00000000 05000800 80000000 06000700 004d0000')));
});

test('KERNEL-1 creates an SCTP flow with its state and unknown verification tags as conntrack -I does', () => {
  const sctp = create({ ...dnat, protocol: L4.SCTP, state: 'ESTABLISHED' });
  assert.ok(sctp.endsWith(hex('20000480 1c000380 05000100 04000000 08000200 00000000 08000300 00000000')));
  assert.throws(() => create({ ...dnat, state: 'ESTABLISHED' }), RangeError);
});

/** A flow as Linux 6.18 dumps it. */
const dumped = Buffer.from(
  hex(
    '02000000 34000180 14000180 08000100 0a000001 08000200 0a000002',
    '1c000280 05000100 06000000 06000200 00010000 06000300 00020000',
    '34000280 14000180 08000100 0a000002 08000200 0a000001',
    '1c000280 05000100 06000000 06000200 00020000 06000300 00010000',
    '06001200 00030000 08000300 0000000e 08000800 00000005 08000c00 5553a98d 08000b00 00000001 08000700 00000063',
    '30000480 2c000180 05000100 03000000 05000200 00000000 05000300 00000000 06000400 0a000000 06000500 0a000000',
    '1c001880 08000100 00000000 08000200 00000000 08000300 00000000',
  ),
  'hex',
);

test('KERNEL-1 decodes a flow as the kernel dumps it and prints the line of conntrack -L', () => {
  const flow = decodeFlow(dumped);
  assert.ok(flow);
  const none = { icmp: undefined, zone: undefined };
  assert.deepEqual(flow, {
    family: 'IPv4',
    protocol: L4.TCP,
    original: { ...tuple('10.0.0.1', 1, '10.0.0.2', 2), ...none },
    reply: { ...tuple('10.0.0.2', 2, '10.0.0.1', 1), ...none },
    zone: 3,
    status: 14,
    timeout: 99,
    mark: 5,
    id: 0x5553a98d,
    state: 'ESTABLISHED',
  });
  const line =
    'tcp      6 99 ESTABLISHED src=10.0.0.1 dst=10.0.0.2 sport=1 dport=2 src=10.0.0.2 dst=10.0.0.1 sport=2 dport=1 [ASSURED] mark=5 zone=3';
  assert.equal(printFlow(flow), line);
});

test('KERNEL-1 prints GRE keys, unknown protocols without ports, and zones of one direction', () => {
  const flow: Flow = { ...dnat, protocol: L4.GRE, original: { ...dnat.original, zone: 7 }, status: Status.CONFIRMED };
  assert.equal(
    printFlow(flow),
    'gre      47 100 src=10.0.0.1 dst=10.96.0.1 srckey=0x3e8 dstkey=0x35 zone-orig=7 [UNREPLIED] src=10.1.0.5 dst=10.0.0.1 srckey=0x14e9 dstkey=0x3e8',
  );
  assert.equal(
    printFlow({ ...dnat, protocol: 4, timeout: undefined, status: Status.OFFLOAD | Status.SEEN_REPLY }),
    'unknown  4 src=10.0.0.1 dst=10.96.0.1 src=10.1.0.5 dst=10.0.0.1 [OFFLOAD]',
  );
});

const u16 = fc.integer({ min: 0, max: 0xffff });
const u32 = fc.integer({ min: 0, max: 0xffffffff });
/** Makes records with a prototype, as object literals have one. deepEqual compares prototypes. */
const plain = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { noNullPrototype: true });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

function anyTuple(family: Family, icmp: boolean): fc.Arbitrary<FlowTuple> {
  // An IPv4-mapped address would be read as IPv4, and no flow of the IPv6 family has an IPv4 address.
  const ip = (family === 'IPv4' ? fc.ipV4() : fc.ipV6().filter(text => !parseIp(text)?.includes('.')))
    .map(text => parseIp(text))
    .filter(parsed => parsed !== undefined);
  const port = icmp ? fc.constant(0) : u16;
  const u8 = fc.integer({ min: 0, max: 255 });
  return plain({
    src: ip,
    dst: ip,
    srcPort: port,
    dstPort: port,
    icmp: icmp ? plain({ type: u8, code: u8, id: u16 }) : fc.constant(undefined),
    zone: maybe(u16),
  });
}

const anyFlow: fc.Arbitrary<Flow> = fc
  .record({ family: fc.constantFrom<Family[]>('IPv4', 'IPv6'), kind: fc.constantFrom('tcp', 'udp', 'sctp', 'icmp') })
  .chain(({ family, kind }) => {
    const icmp = family === 'IPv4' ? L4.ICMP : L4.ICMPV6;
    const protocol = { tcp: L4.TCP, udp: L4.UDP, sctp: L4.SCTP, icmp }[kind] ?? icmp;
    const hasState = kind === 'tcp' || kind === 'sctp';
    return plain({
      family: fc.constant(family),
      protocol: fc.constant(protocol),
      original: anyTuple(family, kind === 'icmp'),
      reply: anyTuple(family, kind === 'icmp'),
      zone: maybe(u16),
      status: maybe(u32),
      timeout: maybe(u32),
      mark: maybe(u32),
      id: fc.constant(undefined),
      state: hasState ? maybe(fc.constantFrom('NONE' as const, 'ESTABLISHED' as const)) : fc.constant(undefined),
    });
  });

function encoded(flow: Flow): Buffer {
  const writer = new MessageWriter().begin(0, 0, 0);
  encodeFlow(writer, flow);
  return Buffer.from(writer.end().bytes.subarray(16));
}

test('KERNEL-1 every flow survives encoding and decoding', () => {
  fc.assert(fc.property(anyFlow, flow => assert.deepEqual(decodeFlow(encoded(flow)), flow)));
});

test('KERNEL-2 random bytes and flows that are cut short or changed never make the decoder throw', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), bytes => void decodeFlow(Buffer.from(bytes))));
  const change = fc.record({ at: fc.nat(240), byte: fc.integer({ min: 0, max: 255 }) });
  const changes = fc.array(change, { maxLength: 5 });
  fc.assert(
    fc.property(changes, fc.nat(dumped.length), fc.boolean(), (list, length, cut) => {
      const bytes = Buffer.from(dumped);
      for (const { at, byte } of list) if (at < bytes.length) bytes[at] = byte;
      const flow = decodeFlow(cut ? bytes.subarray(0, length) : bytes);
      if (flow) printFlow(flow);
    }),
    { numRuns: 2000 },
  );
});

test('KERNEL-1 a message without both tuples, or of another family, decodes to no flow', () => {
  const half = Buffer.from(dumped.subarray(0, 4 + 0x34));
  assert.equal(decodeFlow(half), undefined);
  const bridge = Buffer.from(dumped);
  bridge[0] = 7;
  assert.equal(decodeFlow(bridge), undefined);
  assert.equal(decodeFlow(Buffer.alloc(0)), undefined);
});
