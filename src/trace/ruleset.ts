import {
  type BaseChain,
  type Element,
  type NftablesSocket,
  type NftFamily,
  printElementOf,
  type Rule,
  type SetOrMap,
  type TraceFamily,
} from '../kernel/nftables/index.ts';
import { Breaks } from '../lib/breaks.ts';
import type { MatchingSet } from './matched-elements.ts';

/** A rule, and its place in its chain, from 1. */
export interface PlacedRule {
  readonly rule: Rule;
  readonly position: number;
}

/** The largest anonymous set whose elements are printed. */
const MAX_PRINTED_ELEMENTS = 20;

/** Reads what the kernel has, each object once for each generation of the rules. */
export class Ruleset {
  readonly #socket: NftablesSocket;
  readonly #bases = new Map<string, BaseChain | undefined>();
  readonly #rules = new Map<string, ReadonlyMap<number, PlacedRule>>();
  readonly #sets = new Map<string, SetOrMap | undefined>();
  #generation: number | undefined;

  constructor(socket: NftablesSocket) {
    this.#socket = socket;
  }

  /** Forgets everything if any program has changed rules. Returns whether it did. */
  refresh(): boolean {
    const generation = this.#socket.generation();
    if (generation === this.#generation) return false;
    this.#generation = generation;
    for (const known of [this.#bases, this.#rules, this.#sets]) known.clear();
    return true;
  }

  /** The hook, type and policy of a base chain. Undefined for other chains, and for families that we cannot read. */
  base(family: TraceFamily, table: string, chain: string): BaseChain | undefined {
    if (!isReadable(family)) return undefined;
    return remember(this.#bases, `${family} ${table} ${chain}`, () => this.#readBase(family, table, chain));
  }

  async rule(family: TraceFamily, table: string, chain: string, handle: number): Promise<PlacedRule | undefined> {
    if (!isReadable(family)) return undefined;
    const key = `${family} ${table} ${chain}`;
    const rules = this.#rules.get(key) ?? (await this.#readRules(family, table, chain));
    this.#rules.set(key, rules);
    return rules.get(handle);
  }

  set(family: NftFamily, table: string, name: string): MatchingSet | undefined {
    const set = remember(this.#sets, `${family} ${table} ${name}`, () => this.#socket.lookups.set(family, table, name));
    return set && { set, element: key => this.#element(family, table, set, key) };
  }

  /** The elements of a small anonymous set, as nft writes them in a rule. */
  anonymousSet(family: NftFamily, table: string, name: string): string | undefined {
    const set = this.set(family, table, name)?.set;
    if (!set?.flags?.includes('anonymous')) return undefined;
    const texts: string[] = [];
    for (const element of this.#socket.listElements(family, table, set)) {
      if (texts.length === MAX_PRINTED_ELEMENTS) return undefined;
      texts.push(printElementOf(set, element, 'whole'));
    }
    return `{ ${texts.join(', ')} }`;
  }

  #readBase(family: NftFamily, table: string, chain: string): BaseChain | undefined {
    return this.#socket.lookups.chain(family, table, chain)?.base;
  }

  /** A chain of iptables-nft has a rule for each Service, and a trace may run in the process of the proxy. */
  async #readRules(family: NftFamily, table: string, chain: string): Promise<ReadonlyMap<number, PlacedRule>> {
    const breaks = new Breaks();
    const rules = new Map<number, PlacedRule>();
    let position = 0;
    for (const rule of this.#socket.listRules(family, table, chain)) {
      rules.set(rule.handle ?? 0, { rule, position: ++position });
      if (breaks.isDue) await breaks.take();
    }
    return rules;
  }

  /** The kernel cannot look up a range by one of its keys in every kind of set, so sets with ranges are left out. */
  #element(family: NftFamily, table: string, set: SetOrMap, key: Buffer): Element | undefined {
    if (set.flags?.includes('interval')) return undefined;
    return this.#socket.lookups.element(family, table, set.name, key);
  }
}

export function isReadable(family: TraceFamily): family is NftFamily {
  return family === 'ip' || family === 'ip6' || family === 'inet';
}

function remember<T>(known: Map<string, T>, key: string, read: () => T): T {
  const found = known.get(key);
  if (found !== undefined || known.has(key)) return found as T;
  const value = read();
  known.set(key, value);
  return value;
}
