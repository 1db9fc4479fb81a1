import { readAttributes } from '../netlink/index.ts';
import { ChainAttribute, HookAttribute } from './chain.ts';
import { ElementAttribute, ElementListAttribute } from './element.ts';
import { ATTRIBUTES_OFFSET, NftMessage } from './message.ts';
import { RuleAttribute } from './rule.ts';
import { SetAttribute, SetDescAttribute, SetFieldAttribute } from './set.ts';
import { TableAttribute } from './table.ts';

/** The names of attributes, and the layouts of nested ones. The entries of a list have an index instead of a name. */
interface Layout {
  readonly names: ReadonlyMap<number, string>;
  readonly inside: ReadonlyMap<number, Layout>;
  readonly listOf?: Layout;
}

const VERDICT = layout('NFTA_VERDICT_', { CODE: 1, CHAIN: 2 });
const DATA = layout('NFTA_DATA_', { VALUE: 1, VERDICT: 2 }, [[2, VERDICT]]);
const EXPRESSION = layout('NFTA_EXPR_', { NAME: 1, DATA: 2 });
const EXPRESSIONS = list(EXPRESSION);
const ELEMENTS = list(
  layout('NFTA_SET_ELEM_', ElementAttribute, [
    [ElementAttribute.KEY, DATA],
    [ElementAttribute.DATA, DATA],
    [ElementAttribute.KEY_END, DATA],
    [ElementAttribute.EXPR, EXPRESSION],
  ]),
);
const DESCRIPTION = layout('NFTA_SET_DESC_', SetDescAttribute, [
  [SetDescAttribute.CONCAT, list(layout('NFTA_SET_FIELD_', SetFieldAttribute))],
]);

const TABLE = layout('NFTA_TABLE_', TableAttribute);
const CHAIN = layout('NFTA_CHAIN_', ChainAttribute, [[ChainAttribute.HOOK, layout('NFTA_HOOK_', HookAttribute)]]);
const RULE = layout('NFTA_RULE_', RuleAttribute, [[RuleAttribute.EXPRESSIONS, EXPRESSIONS]]);
const SET = layout('NFTA_SET_', SetAttribute, [
  [SetAttribute.DESC, DESCRIPTION],
  [SetAttribute.EXPR, EXPRESSION],
]);
const ELEMENT_LIST = layout('NFTA_SET_ELEM_LIST_', ElementListAttribute, [[ElementListAttribute.ELEMENTS, ELEMENTS]]);

const LAYOUTS: ReadonlyMap<number, Layout> = new Map([
  [NftMessage.NEWTABLE, TABLE],
  [NftMessage.DELTABLE, TABLE],
  [NftMessage.NEWCHAIN, CHAIN],
  [NftMessage.DELCHAIN, CHAIN],
  [NftMessage.NEWRULE, RULE],
  [NftMessage.DELRULE, RULE],
  [NftMessage.NEWSET, SET],
  [NftMessage.DELSET, SET],
  [NftMessage.NEWSETELEM, ELEMENT_LIST],
  [NftMessage.DELSETELEM, ELEMENT_LIST],
]);

export interface AttributePath {
  /** `NFTA_SET_ELEM_LIST_ELEMENTS[17].NFTA_SET_ELEM_DATA` */
  readonly text: string;
  /** The first index in the path. */
  readonly index: number | undefined;
}

/** The attribute at an offset, counted from the start of the message. Undefined if no attribute is there. */
export function attributePath(message: Buffer, offset: number): AttributePath | undefined {
  if (message.length < ATTRIBUTES_OFFSET) return undefined;
  const layout = LAYOUTS.get(message.readUInt16LE(4) & 0xff);
  return layout && findPath(layout, message, ATTRIBUTES_OFFSET, 0, offset);
}

function findPath(
  layout: Layout,
  bytes: Buffer,
  start: number,
  base: number,
  wanted: number,
): AttributePath | undefined {
  let index = 0;
  for (const { type, value, offset } of readAttributes(bytes, start)) {
    const at = base + offset;
    const here = layout.listOf ? `[${index}]` : (layout.names.get(type) ?? `attribute ${type}`);
    const own = layout.listOf ? index : undefined;
    index++;
    if (wanted >= at + 4 + value.length) continue;
    if (wanted < at) return undefined;
    if (wanted === at) return { text: here, index: own };
    const inside = layout.listOf ?? layout.inside.get(type);
    const deeper = inside && findPath(inside, value, 0, at + 4, wanted);
    if (!deeper) return { text: here, index: own };
    const dot = inside.listOf ? '' : '.';
    return { text: `${here}${dot}${deeper.text}`, index: own ?? deeper.index };
  }
  return undefined;
}

function layout(
  prefix: string,
  attributes: Readonly<Record<string, number>>,
  inside: readonly (readonly [number, Layout])[] = [],
): Layout {
  const names = new Map(Object.entries(attributes).map(([name, type]) => [type, `${prefix}${name}`]));
  return { names, inside: new Map(inside) };
}

function list(listOf: Layout): Layout {
  return { names: new Map(), inside: new Map(), listOf };
}
