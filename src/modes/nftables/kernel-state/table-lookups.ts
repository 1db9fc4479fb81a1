import { isInterrupted } from '../../../kernel/netlink/index.ts';
import type { Chain, Element, NftablesSocket, Rule, SetOrMap, Table } from '../../../kernel/nftables/index.ts';
import { type Layout, TABLE } from '../table/layout.ts';

/** Reads single objects of the table of one family. */
export interface TableLookups {
  table(): Table | undefined;
  chain(name: string): Chain | undefined;
  /** At most `limit` rules. Empty if there is no such chain. */
  rules(chain: string, limit: number): readonly Rule[];
  set(name: string): SetOrMap | undefined;
  element(set: SetOrMap, key: Buffer): Element | undefined;
  /** At most `limit` elements. The set must exist. */
  elements(set: SetOrMap, limit: number): readonly Element[];
}

/** The kernel breaks off a listing of rules if any program changes any rule. A short listing soon succeeds. */
const ATTEMPTS = 20;

export function kernelLookups(socket: NftablesSocket, { nft }: Layout): TableLookups {
  const { lookups } = socket;
  return {
    table: () => lookups.table(nft, TABLE),
    chain: name => lookups.chain(nft, TABLE, name),
    rules: (chain, limit) => again(() => lookups.rules(nft, TABLE, chain, limit)),
    set: name => lookups.set(nft, TABLE, name),
    element: (set, key) => lookups.element(nft, TABLE, set.name, key),
    elements: (set, limit) => again(() => firstOf(socket.listElements(nft, TABLE, set), limit)),
  };
}

/** A table that has nothing. */
export const NO_LOOKUPS: TableLookups = {
  table: () => undefined,
  chain: () => undefined,
  rules: () => [],
  set: () => undefined,
  element: () => undefined,
  elements: () => [],
};

function firstOf<T>(items: Iterable<T>, limit: number): readonly T[] {
  const first: T[] = [];
  for (const item of items) {
    if (first.length === limit) break;
    first.push(item);
  }
  return first;
}

function again<T>(list: () => T): T {
  for (let attempt = 1; ; attempt++) {
    try {
      return list();
    } catch (error) {
      if (attempt === ATTEMPTS || !isInterrupted(error)) throw error;
    }
  }
}
