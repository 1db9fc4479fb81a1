import { asString, asU64BE, attributeMap, type Message, type MessageWriter } from '../netlink/index.ts';
import { decodeExpressions, type Expression, encodeExpressions, printRule } from './expressions/index.ts';
import type { NftFamily } from './family.ts';
import { NFGENMSG_LENGTH } from './message.ts';
import { commentIn, encodeComment, printComment } from './userdata.ts';

export interface Rule {
  readonly kind: 'rule';
  readonly chain: string;
  readonly expressions: readonly Expression[];
  readonly comment?: string;
  readonly handle?: number;
  /**
   * The handle of the rule after which this rule is added, or before which it is inserted. In a listed rule: the handle
   * of the previous rule.
   */
  readonly position?: number;
}

export const RuleAttribute = {
  TABLE: 1,
  CHAIN: 2,
  HANDLE: 3,
  EXPRESSIONS: 4,
  COMPAT: 5,
  POSITION: 6,
  USERDATA: 7,
  ID: 9,
  POSITION_ID: 10,
  CHAIN_ID: 11,
} as const;

export function encodeRule(writer: MessageWriter, table: string, rule: Rule): void {
  writer.string(RuleAttribute.TABLE, table).string(RuleAttribute.CHAIN, rule.chain);
  encodeExpressions(writer, RuleAttribute.EXPRESSIONS, rule.expressions);
  if (rule.position !== undefined) writer.u64BE(RuleAttribute.POSITION, BigInt(rule.position));
  if (rule.comment !== undefined) encodeComment(writer, RuleAttribute.USERDATA, rule.comment);
}

/** Decodes a rule and the name of its table. */
export function decodeRule(message: Message): { table: string; rule: Rule } | undefined {
  const attributes = attributeMap(message.body, NFGENMSG_LENGTH);
  const table = asString(attributes.get(RuleAttribute.TABLE));
  const chain = asString(attributes.get(RuleAttribute.CHAIN));
  if (table === undefined || chain === undefined) return undefined;
  const expressions = attributes.get(RuleAttribute.EXPRESSIONS);
  const comment = commentIn(attributes.get(RuleAttribute.USERDATA));
  const handle = asU64BE(attributes.get(RuleAttribute.HANDLE));
  const position = asU64BE(attributes.get(RuleAttribute.POSITION));
  const rule: Rule = {
    kind: 'rule',
    chain,
    expressions: expressions ? decodeExpressions(expressions) : [],
    ...(comment !== undefined && { comment }),
    ...(handle !== undefined && { handle: Number(handle) }),
    ...(position !== undefined && { position: Number(position) }),
  };
  return { table, rule };
}

/** The text after `add rule ip table chain`. */
export function printRuleBody(family: NftFamily, rule: Rule): string {
  const position = rule.position === undefined ? '' : ` handle ${rule.position}`;
  return `${position} ${printRule(family, rule.expressions)}${printComment(rule.comment)}`;
}
