import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  asString,
  asU32BE,
  attributeMap,
  type Message,
  type MessageWriter,
  NetlinkSocket,
  Protocol,
} from '../netlink/index.ts';
import type { NetworkNamespace } from '../netns.ts';
import { type BaseChain, ChainAttribute, decodeChain } from './chain.ts';
import { decodeElements, type Element, ElementListAttribute } from './element.ts';
import { shapeOf } from './entries.ts';
import { familyFromNumber, type NftFamily } from './family.ts';
import { joinIntervals } from './interval.ts';
import { familyHead, messageType, NFGENMSG_LENGTH, NftMessage, UNSPECIFIED_HEAD } from './message.ts';
import { decodeRule, type Rule, RuleAttribute } from './rule.ts';
import type { SetOrMap } from './set.ts';
import { TableAttribute } from './table.ts';

// Lists of tables that other programs wrote. Nothing is known of their size, so each list has a limit or lets other
// work run in between.

/** How many objects a list handles before it lets other work run. */
const OBJECTS_PER_TURN = 100;

/** A base chain and its table. */
export interface HookedChain {
  readonly table: string;
  readonly name: string;
  readonly base: BaseChain;
}

/** A table, and how many chains, sets and other objects it has. */
export interface TableSize {
  /** Also `bridge`, `netdev` and `arp`, whose rules this program does not decode. */
  readonly family: NftFamily | 'arp' | 'netdev' | 'bridge' | `family ${number}`;
  readonly name: string;
  /** The base chains of a dormant table see no packets. */
  readonly isDormant: boolean;
  readonly objects: number;
}

/** A list that may have been cut. */
export interface BoundedList<T> {
  readonly items: readonly T[];
  readonly isComplete: boolean;
}

const DORMANT = 1;
const OTHER_FAMILIES: ReadonlyMap<number, TableSize['family']> = new Map([
  [3, 'arp'],
  [5, 'netdev'],
  [7, 'bridge'],
]);

/** The tables of all families. */
export async function listTableSizes(namespace: NetworkNamespace | undefined): Promise<readonly TableSize[]> {
  const found: TableSize[] = [];
  const request = (writer: MessageWriter) => writer.struct(UNSPECIFIED_HEAD);
  await list('list tables', NftMessage.GETTABLE, namespace, request, ({ body }) => {
    const attributes = attributeMap(body, NFGENMSG_LENGTH);
    const name = asString(attributes.get(TableAttribute.NAME));
    const objects = asU32BE(attributes.get(TableAttribute.USE)) ?? 0;
    const flags = asU32BE(attributes.get(TableAttribute.FLAGS)) ?? 0;
    const number = body[0] ?? 0;
    const family = familyFromNumber(number) ?? OTHER_FAMILIES.get(number) ?? (`family ${number}` as const);
    if (name !== undefined) found.push({ family, name, objects, isDormant: (flags & DORMANT) !== 0 });
    return true;
  });
  return found;
}

/** The base chains of all tables of the family. The kernel sends all chains, because it has no filter for this. */
export async function listBaseChains(
  family: NftFamily,
  namespace: NetworkNamespace | undefined,
): Promise<readonly HookedChain[]> {
  const found: HookedChain[] = [];
  const request = (writer: MessageWriter) => writer.struct(familyHead(family));
  await list(`list chains of ${family}`, NftMessage.GETCHAIN, namespace, request, message => {
    if (!attributeMap(message.body, NFGENMSG_LENGTH).has(ChainAttribute.HOOK)) return true;
    const decoded = decodeChain(message);
    const base = decoded?.chain.base;
    if (decoded && base) found.push({ table: decoded.table, name: decoded.chain.name, base });
    return true;
  });
  return found;
}

/** The rules of one chain, or of all chains of the table, in order. */
export async function listRulesUpTo(
  limit: number,
  { family, table, chain }: { readonly family: NftFamily; readonly table: string; readonly chain?: string },
  namespace: NetworkNamespace | undefined,
): Promise<BoundedList<Rule>> {
  const items: Rule[] = [];
  const request = (writer: MessageWriter) => {
    writer.struct(familyHead(family)).string(RuleAttribute.TABLE, table);
    if (chain !== undefined) writer.string(RuleAttribute.CHAIN, chain);
  };
  const operation = `list rules in ${family} ${table}`;
  const isComplete = await list(operation, NftMessage.GETRULE, namespace, request, message => {
    const found = decodeRule(message);
    if (found?.table !== table || (chain !== undefined && found.rule.chain !== chain)) return true;
    if (items.length >= limit) return false;
    items.push(found.rule);
    return true;
  });
  return { items, isComplete };
}

/** The elements of a set or map. Undefined if there are more than the limit. */
export async function listElementsUpTo(
  limit: number,
  { family, table, set }: { readonly family: NftFamily; readonly table: string; readonly set: SetOrMap },
  namespace: NetworkNamespace | undefined,
): Promise<readonly Element[] | undefined> {
  const parts: Element[] = [];
  const request = (writer: MessageWriter) =>
    writer
      .struct(familyHead(family))
      .string(ElementListAttribute.TABLE, table)
      .string(ElementListAttribute.SET, set.name);
  const operation = `list ${set.kind} ${family} ${table} ${set.name}`;
  const isComplete = await list(operation, NftMessage.GETSETELEM, namespace, request, message => {
    parts.push(...(decodeElements(message)?.elements ?? []));
    return parts.length <= limit;
  });
  if (!isComplete) return undefined;
  return shapeOf(set) === 'pair' ? joinIntervals(parts) : parts;
}

/** Calls `take` for each message until it returns false. Returns false in that case. */
async function list(
  operation: string,
  type: number,
  namespace: NetworkNamespace | undefined,
  write: (writer: MessageWriter) => void,
  take: (message: Message) => boolean,
): Promise<boolean> {
  const socket = NetlinkSocket.open(Protocol.NETFILTER, { namespace });
  try {
    let handled = 0;
    for (const message of socket.dump(operation, messageType(type), write)) {
      if (!take(message)) return false;
      if (++handled % OBJECTS_PER_TURN === 0) await nextTurn();
    }
    return true;
  } finally {
    socket.close();
  }
}
