import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encoded } from '../../../../test/support/wire-case.ts';
import type { Expression } from './expression.ts';
import { decodeExpressions, printExpressions } from './expressions.ts';
import { printRule } from './print/index.ts';

const SEED = 20240607;

test('KERNEL-2 random bytes can be decoded, printed and encoded without an exception', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), random => checkRoundTrip(Buffer.from(random))),
    { seed: SEED, numRuns: 500 },
  );
});

test('KERNEL-2 rules with changed bytes can be decoded, printed and encoded without an exception', () => {
  const change = fc.record({ at: fc.nat(), byte: fc.nat(255) });
  fc.assert(
    fc.property(fc.nat(RULES.length - 1), fc.array(change, { minLength: 1, maxLength: 6 }), (rule, changes) => {
      const bytes = Buffer.from(encoded(RULES[rule] ?? []), 'hex');
      for (const { at, byte } of changes) bytes[at % bytes.length] = byte;
      checkRoundTrip(bytes);
    }),
    { seed: SEED, numRuns: 3000 },
  );
});

test('KERNEL-2 rules that are cut short can be decoded, printed and encoded without an exception', () => {
  for (const rule of RULES) {
    const bytes = Buffer.from(encoded(rule), 'hex');
    for (let end = 0; end <= bytes.length; end++) checkRoundTrip(bytes.subarray(0, end));
  }
});

test('KERNEL-2 the deepest possible nesting does not exhaust the stack', () => {
  let hex = '14000780 0c000100636f756e74657200 04000280'.replaceAll(' ', '');
  const header = (length: number, type: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt16LE(length, 0);
    bytes.writeUInt16LE(type, 2);
    return bytes.toString('hex');
  };
  for (;;) {
    const data = `0800040000000001080003000000000006000100730000${'00'}${hex}`;
    const body = `0b00010064796e7365740000${header(4 + data.length / 2, 0x8002)}${data}`;
    const length = 4 + body.length / 2;
    if (length > 0xff00) break;
    hex = `${header(length, 0x8007)}${body}`;
  }
  checkRoundTrip(Buffer.from(hex.replace(/^(.{4})0780/, '$10180'), 'hex'));
});

/** Checks that decoded expressions can be printed, and are the same after encoding and decoding. */
function checkRoundTrip(bytes: Buffer): void {
  const expressions = decodeExpressions(bytes);
  for (const family of ['ip', 'ip6', 'inet'] as const) assert.equal(typeof printRule(family, expressions), 'string');
  assert.equal(printExpressions(expressions).length, expressions.length);
  assert.deepEqual(decodeExpressions(Buffer.from(encoded(expressions), 'hex')), expressions);
}

const zero = Buffer.alloc(4);

/** Rules with every kind of expression. */
const RULES: readonly (readonly Expression[])[] = [
  [
    { kind: 'meta', key: 'l4proto', dreg: 1 },
    { kind: 'cmp', op: 'eq', sreg: 1, data: Buffer.of(6) },
    { kind: 'payload', base: 'network', offset: 12, len: 4, dreg: 1 },
    { kind: 'payload', base: 'transport', offset: 2, len: 2, dreg: 9 },
    { kind: 'numgen', type: 'random', modulus: 3, offset: 0, dreg: 10 },
    { kind: 'lookup', set: 'endpoints', setId: 7, sreg: 1, dreg: 1 },
    { kind: 'nat', type: 'dnat', family: 'ip', addrMin: 1, protoMin: 9, flags: ['random'] },
  ],
  [
    { kind: 'ct', key: 'state', dreg: 1 },
    { kind: 'bitwise', sreg: 1, dreg: 1, mask: Buffer.of(8, 0, 0, 0), xor: zero },
    { kind: 'cmp', op: 'neq', sreg: 1, data: zero },
    { kind: 'fib', selectors: ['daddr'], result: 'type', dreg: 1 },
    { kind: 'cmp', op: 'eq', sreg: 1, data: Buffer.of(2, 0, 0, 0) },
    { kind: 'meta', key: 'iifname', dreg: 1 },
    { kind: 'cmp', op: 'eq', sreg: 1, data: Buffer.from('veth') },
    { kind: 'lookup', set: 's', sreg: 1, inverted: true },
    { kind: 'verdict', verdict: { kind: 'jump', chain: 'services' } },
  ],
  [
    { kind: 'meta', key: 'mark', dreg: 1 },
    { kind: 'shift', op: 'lshift', sreg: 1, dreg: 1, len: 4, bits: 3 },
    { kind: 'byteorder', op: 'hton', sreg: 1, dreg: 1, len: 4, size: 4 },
    { kind: 'range', op: 'neq', sreg: 1, from: zero, to: Buffer.of(0, 0, 1, 0) },
    { kind: 'immediate', dreg: 1, data: zero },
    { kind: 'meta-set', key: 'mark', sreg: 1 },
    { kind: 'ct-set', key: 'mark', sreg: 1 },
    { kind: 'payload-write', base: 'network', offset: 16, len: 4, sreg: 1, csumType: 1, csumOffset: 10, csumFlags: 1 },
    { kind: 'socket', key: 'mark', dreg: 1 },
    { kind: 'cmp', op: 'gte', sreg: 1, data: zero },
    { kind: 'cmp', op: 'lte', sreg: 1, data: zero },
  ],
  [
    { kind: 'payload', base: 'network', offset: 8, len: 16, dreg: 1 },
    { kind: 'jhash', sreg: 1, len: 16, modulus: 4, offset: 1, seed: 5, dreg: 2 },
    {
      kind: 'dynset',
      op: 'update',
      set: 'affinity',
      setId: 3,
      sregKey: 1,
      sregData: 2,
      timeout: 1000n,
      expressions: [
        { kind: 'counter', packets: 1n, bytes: 2n },
        { kind: 'limit', rate: 5n, unit: 'second', of: 'bytes' },
      ],
    },
    { kind: 'symhash', modulus: 2, offset: 0, dreg: 1 },
    { kind: 'objref-map', sreg: 1, set: 'm', setId: 4 },
    { kind: 'verdict', verdict: { kind: 'drop' } },
  ],
  [
    { kind: 'connlimit', count: 5, over: true },
    { kind: 'quota', bytes: 5n, consumed: 1n },
    { kind: 'log', prefix: 'p', group: 1, level: 'info', flags: ['uid'] },
    { kind: 'objref', type: 'counter', name: 'drops' },
    { kind: 'notrack' },
    { kind: 'masquerade', protoMin: 1, protoMax: 2, flags: ['fully-random'] },
    { kind: 'redirect', protoMin: 1 },
    { kind: 'reject', type: 'icmpx', code: 1 },
    { kind: 'reject', type: 'tcp reset' },
    { kind: 'unknown', name: 'rt', data: Buffer.of(4, 0, 1, 0) },
  ],
];
