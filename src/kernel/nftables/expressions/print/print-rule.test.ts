import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  dnatToMap,
  drop,
  goto,
  ipDaddr,
  ipSaddr,
  jump,
  markOr,
  matchCtState,
  matchIifname,
  matchL4proto,
  matchPort,
  matchSet,
  metaL4proto,
  numgen,
  thDport,
  vmap,
} from '../builders/index.ts';
import type { Expression } from '../expression.ts';
import { printRule } from './print-rule.ts';

const SERVICE = [ipDaddr('ip'), metaL4proto, thDport];

test('KERNEL-1 a rule without expressions prints as an empty text', () => {
  assert.equal(printRule('ip', []), '');
});

test('KERNEL-1 a match on the protocol is omitted if a field implies it', () => {
  assert.equal(printRule('ip', [...matchL4proto('tcp'), ...matchPort('dport', 80)]), 'tcp dport 80');
  assert.equal(printRule('ip', [...matchL4proto('tcp'), drop]), 'meta l4proto tcp drop');
});

test('KERNEL-1 a match on the protocol before a statement is printed', () => {
  const rule = [...matchL4proto('tcp'), ...markOr(1), ...matchPort('dport', 80)];
  assert.equal(printRule('ip', rule), 'meta l4proto tcp meta mark set meta mark | 0x00000001 tcp dport 80');
});

test('KERNEL-1 a key contains only what was loaded for it, not what an earlier key left in the next registers', () => {
  const rule = [...matchSet(SERVICE, 'services'), ...matchSet([ipSaddr('ip')], 'sources'), goto('r')];
  assert.equal(printRule('ip', rule), 'ip daddr . meta l4proto . th dport @services ip saddr @sources goto r');
});

test("KERNEL-1 prints a key that nft's grammar does not accept", () => {
  const rule = dnatToMap('ip', [...SERVICE, numgen('random', 3)], 'endpoints');
  assert.equal(
    printRule('ip', rule),
    'dnat ip to ip daddr . meta l4proto . th dport . numgen random mod 3 map @endpoints',
  );
});

test('KERNEL-1 an anonymous set prints as its elements if they are known', () => {
  const rule = vmap([numgen('random', 2)], '__map0');
  assert.equal(printRule('ip', rule), 'numgen random mod 2 vmap @__map0');
  assert.equal(
    printRule('ip', rule, () => '{ 0 : accept, 1 : drop }'),
    'numgen random mod 2 vmap { 0 : accept, 1 : drop }',
  );
});

test('KERNEL-1 an unknown expression, and those that depend on it, print in the debug notation', () => {
  const unknown: Expression = { kind: 'unknown', name: 'rt', data: Buffer.of(1) };
  const rule: Expression[] = [
    ...matchCtState('new'),
    ...ipSaddr('ip').load(1),
    unknown,
    { kind: 'cmp', op: 'eq', sreg: 1, data: Buffer.of(5, 0, 0, 0) },
    jump('r'),
  ];
  assert.equal(printRule('ip', rule), 'ct state new [ rt 0x01 ] [ cmp eq reg 1 0x00000005 ] jump r');
});

test('KERNEL-1 a lookup with an empty register, and those that use its data, print in the debug notation', () => {
  const rule: Expression[] = [
    { kind: 'lookup', set: 'm', sreg: 2, dreg: 1 },
    { kind: 'nat', type: 'dnat', family: 'ip', addrMin: 1 },
  ];
  assert.equal(printRule('ip', rule), '[ lookup reg 2 set m dreg 1 ] [ nat dnat ip addr_min reg 1 ]');
});

test('KERNEL-1 a field in an inet table has no name before the rule has matched the family', () => {
  const rule: Expression[] = [
    ...ipSaddr('ip').load(1),
    { kind: 'cmp', op: 'eq', sreg: 1, data: Buffer.of(10, 0, 0, 1) },
  ];
  assert.equal(printRule('inet', rule), '@nh,96,32 0xa000001');
});

test('KERNEL-1 the first letters of a name print with a star, a whole name without', () => {
  assert.equal(printRule('ip', matchIifname('veth*')), 'iifname "veth*"');
  assert.equal(printRule('ip', matchIifname('veth', 'neq')), 'iifname != "veth"');
});
