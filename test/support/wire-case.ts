import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageWriter } from '../../src/kernel/netlink/index.ts';
import type { Expression } from '../../src/kernel/nftables/expressions/expression.ts';
import {
  decodeExpressions,
  encodeExpressions,
  printExpressions,
} from '../../src/kernel/nftables/expressions/expressions.ts';

/** The bytes that nft 1.0.6 sends for an expression of a rule, and how `nft --debug=netlink` prints it. */
export interface WireCase {
  /** The id of the rule that the test cites. */
  readonly rule: string;
  readonly hex: string;
  readonly debug: string;
  readonly node: Expression;
}

/** Tests that each expression is encoded, decoded and printed as nft does it. */
export function testWire(cases: readonly WireCase[]): void {
  for (const { rule, hex, debug, node } of cases) {
    test(`${rule}: ${debug}`, () => {
      assert.equal(encoded([node]), hex.replaceAll(' ', ''));
      assert.deepEqual(decodeExpressions(Buffer.from(hex.replaceAll(' ', ''), 'hex')), [node]);
      assert.deepEqual(printExpressions([node]), [debug]);
    });
  }
}

/** The value of the list attribute, in hex. */
export function encoded(expressions: readonly Expression[]): string {
  const writer = new MessageWriter();
  encodeExpressions(writer, 4, expressions);
  return writer.bytes.subarray(4).toString('hex');
}

export function bytes(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex');
}
