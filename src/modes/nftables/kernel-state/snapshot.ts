import { uninterrupted } from '../../../kernel/netlink/index.ts';
import {
  type Chain,
  type Element,
  type NftablesSocket,
  printVerdict,
  type SetOrMap,
} from '../../../kernel/nftables/index.ts';
import { ruleText } from '../table/chain-rules.ts';
import { type Layout, TABLE } from '../table/layout.ts';

/** What the kernel's table has, in a form that can be compared. */
export interface Snapshot {
  /** Undefined if there is no table. */
  readonly tableHandle: number | undefined;
  readonly chains: ReadonlyMap<string, ChainSnapshot>;
  readonly sets: ReadonlyMap<string, SetOrMap>;
  /** By the set's name, without the elements that packets add, and without sets that are a part of a rule. */
  readonly elements: ReadonlyMap<string, ElementsSnapshot>;
}

/** The elements of one set. Elements that are not marked as wanted are leftovers. */
export class ElementsSnapshot {
  readonly set: SetOrMap;
  readonly #values = new Map<string, string>();
  readonly #wanted = new Set<string>();

  constructor(set: SetOrMap) {
    this.set = set;
  }

  put(element: Element): void {
    this.#values.set(keyText(element), valueText(element));
  }

  /** The value that the kernel has for the key of an element; undefined if it has none. */
  value(element: Element): string | undefined {
    return this.#values.get(keyText(element));
  }

  markWanted(element: Element): void {
    const key = keyText(element);
    if (this.#values.has(key)) this.#wanted.add(key);
  }

  *leftovers(): Generator<Element> {
    for (const key of this.#values.keys()) if (!this.#wanted.has(key)) yield elementOf(key, this.set);
  }
}

export interface ChainSnapshot {
  readonly chain: Chain;
  readonly rules: readonly string[];
}

export const EMPTY_SNAPSHOT: Snapshot = {
  tableHandle: undefined,
  chains: new Map(),
  sets: new Map(),
  elements: new Map(),
};

export async function takeSnapshot(socket: NftablesSocket, layout: Layout): Promise<Snapshot> {
  const { nft } = layout;
  const tables = await uninterrupted(() => [...socket.listTables(nft)]);
  const table = tables.find(({ name }) => name === TABLE);
  if (!table) return EMPTY_SNAPSHOT;
  const rules = await uninterrupted(() => [...socket.listRules(nft, TABLE)]);
  const texts = new Map<string, string[]>();
  for (const rule of rules) texts.set(rule.chain, [...(texts.get(rule.chain) ?? []), ruleText(layout, rule)]);
  const listed = await uninterrupted(() => [...socket.listChains(nft, TABLE)]);
  const chains = new Map(listed.map(chain => [chain.name, { chain, rules: texts.get(chain.name) ?? [] }]));
  const all = await uninterrupted(() => [...socket.listSets(nft, TABLE)]);
  const filled = all.filter(({ flags = [] }) => !flags.includes('dynamic') && !flags.includes('anonymous'));
  return {
    tableHandle: table.handle,
    chains,
    sets: new Map(all.map(set => [set.name, set])),
    elements: await listElements(socket, layout, filled),
  };
}

/** The elements of some sets, which must exist. */
export async function listElements(
  socket: NftablesSocket,
  { nft }: Layout,
  sets: Iterable<SetOrMap>,
): Promise<Snapshot['elements']> {
  const elements = new Map<string, ElementsSnapshot>();
  for (const set of sets) {
    const listed = await uninterrupted(async () => {
      const snapshot = new ElementsSnapshot(set);
      for await (const element of socket.streamElements(nft, TABLE, set)) snapshot.put(element);
      return snapshot;
    });
    elements.set(set.name, listed);
  }
  return elements;
}

/** The key of a range includes its end. */
function keyText({ key, keyEnd }: Element): string {
  return key.toString('latin1') + (keyEnd?.toString('latin1') ?? '');
}

function elementOf(text: string, set: SetOrMap): Element {
  const bytes = Buffer.from(text, 'latin1');
  const size = set.type[0] === 'ipv4_addr' ? 4 : 16;
  // A range of one address has no end.
  if (!set.flags?.includes('interval') || bytes.length === size) return { kind: 'element', key: bytes };
  return { kind: 'element', key: bytes.subarray(0, size), keyEnd: bytes.subarray(size) };
}

/** The value of an element, and its comment. */
export function valueText({ data, verdict, comment }: Element): string {
  const value = verdict ? printVerdict(verdict) : (data?.toString('latin1') ?? '');
  return comment === undefined ? value : `${value} # ${comment}`;
}
