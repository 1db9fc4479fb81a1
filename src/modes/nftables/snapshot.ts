import {
  type Chain,
  type Element,
  type NftablesSocket,
  printVerdict,
  type SetOrMap,
} from '../../kernel/nftables/index.ts';
import { ruleText } from './chain-rules.ts';
import { type Layout, TABLE } from './layout.ts';

/** What is in the kernel's table, in a form that compares. */
export interface Snapshot {
  /** Undefined: there is no table. */
  readonly tableHandle: number | undefined;
  readonly chains: ReadonlyMap<string, ChainSnapshot>;
  readonly sets: ReadonlyMap<string, SetOrMap>;
  /** By set; without what packets put there. */
  readonly elements: ReadonlyMap<string, ElementsSnapshot>;
}

/** Elements of a set by key, and which of them were asked for: the others are left over. */
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

  /** The value of an element that is wanted; undefined if it is not there. */
  want(element: Element): string | undefined {
    const key = keyText(element);
    const value = this.#values.get(key);
    if (value !== undefined) this.#wanted.add(key);
    return value;
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
  const table = [...socket.listTables(nft)].find(({ name }) => name === TABLE);
  if (!table) return EMPTY_SNAPSHOT;
  const rules = new Map<string, string[]>();
  for (const rule of socket.listRules(nft, TABLE)) {
    const texts = rules.get(rule.chain);
    if (texts) texts.push(ruleText(layout, rule));
    else rules.set(rule.chain, [ruleText(layout, rule)]);
  }
  const chains = new Map<string, ChainSnapshot>();
  for (const chain of socket.listChains(nft, TABLE))
    chains.set(chain.name, { chain, rules: rules.get(chain.name) ?? [] });
  const sets = new Map(Array.from(socket.listSets(nft, TABLE), set => [set.name, set]));
  const filled = [...sets.values()].filter(set => !set.flags?.includes('dynamic'));
  return { tableHandle: table.handle, chains, sets, elements: await listElements(socket, layout, filled) };
}

/** The elements of some sets, which must be there. */
export async function listElements(
  socket: NftablesSocket,
  { nft }: Layout,
  sets: Iterable<SetOrMap>,
): Promise<Snapshot['elements']> {
  const elements = new Map<string, ElementsSnapshot>();
  for (const set of sets) {
    const listed = new ElementsSnapshot(set);
    for await (const element of socket.streamElements(nft, TABLE, set)) listed.put(element);
    elements.set(set.name, listed);
  }
  return elements;
}

/** A range's key includes its end. */
function keyText({ key, keyEnd }: Element): string {
  return key.toString('latin1') + (keyEnd?.toString('latin1') ?? '');
}

function elementOf(text: string, set: SetOrMap): Element {
  const bytes = Buffer.from(text, 'latin1');
  const size = set.type[0] === 'ipv4_addr' ? 4 : 16;
  // A range of one key has no end.
  if (!set.flags?.includes('interval') || bytes.length === size) return { kind: 'element', key: bytes };
  return { kind: 'element', key: bytes.subarray(0, size), keyEnd: bytes.subarray(size) };
}

/** What an element maps to, and its comment. */
export function valueText({ data, verdict, comment }: Element): string {
  const value = verdict ? printVerdict(verdict) : (data?.toString('latin1') ?? '');
  return comment === undefined ? value : `${value} # ${comment}`;
}
