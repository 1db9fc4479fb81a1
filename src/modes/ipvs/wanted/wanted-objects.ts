import { type Element, printElement } from '../../../kernel/ipset/index.ts';
import type { ServicePortPlan } from '../../../plan/index.ts';
import type { Drop, Rendered } from '../render.ts';
import { SET_KEYS, type SetKey } from '../names.ts';
import type { VirtualServer } from './virtual-server.ts';

/** A service port that wants a virtual server. */
export interface Claim {
  readonly id: string;
  readonly plan: ServicePortPlan;
  readonly server: VirtualServer;
}

interface Counted<T> {
  readonly value: T;
  count: number;
}

/** What was wanted or is no longer wanted since the last time it was asked. */
export interface Touched {
  readonly servers: ReadonlySet<string>;
  readonly elements: ReadonlyMap<SetKey, ReadonlySet<string>>;
}

/**
 * All that should be in the kernel for one family, by what identifies it. Elements are counted, because several service
 * ports share some: addresses, hairpins, health check ports.
 */
export class Wanted {
  readonly #servers = new Map<string, readonly Claim[]>();
  readonly #elements = new Map<SetKey, Map<string, Counted<Element>>>(SET_KEYS.map(set => [set, new Map()]));
  readonly #drops = new Map<string, Counted<Drop>>();
  #sortedDrops: readonly Drop[] | undefined;
  #touchedServers = new Set<string>();
  #touchedElements = new Map<SetKey, Set<string>>();

  add(id: string, plan: ServicePortPlan, { servers, elements, drops }: Rendered): void {
    for (const server of servers) {
      const claims = this.#servers.get(server.id);
      const claim = { id, plan, server };
      this.#servers.set(server.id, claims ? [...claims, claim].sort(byRight) : [claim]);
      this.#touchedServers.add(server.id);
    }
    for (const { set, element } of elements) {
      const text = printElement(element);
      if (count(this.#of(set), text, element, 1)) this.#touch(set, text);
    }
    this.#countDrops(drops, 1);
  }

  remove(id: string, { servers, elements, drops }: Rendered): void {
    for (const { id: key } of servers) {
      const left = this.#servers.get(key)?.filter(claim => claim.id !== id) ?? [];
      if (left.length > 0) this.#servers.set(key, left);
      else this.#servers.delete(key);
      this.#touchedServers.add(key);
    }
    for (const { set, element } of elements) {
      const text = printElement(element);
      if (count(this.#of(set), text, element, -1)) this.#touch(set, text);
    }
    this.#countDrops(drops, -1);
  }

  server(id: string): VirtualServer | undefined {
    return this.claim(id)?.server;
  }

  /** Who has the virtual server. */
  claim(id: string): Claim | undefined {
    return this.#servers.get(id)?.[0];
  }

  serverIds(): Iterable<string> {
    return this.#servers.keys();
  }

  element(set: SetKey, text: string): Element | undefined {
    return this.#of(set).get(text)?.value;
  }

  elementTexts(set: SetKey): Iterable<string> {
    return this.#of(set).keys();
  }

  isEmpty(set: SetKey): boolean {
    return this.#of(set).size === 0;
  }

  /** In an order that does not depend on how they came; the same list as long as nothing changed. */
  drops(): readonly Drop[] {
    this.#sortedDrops ??= [...this.#drops].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { value }]) => value);
    return this.#sortedDrops;
  }

  takeTouched(): Touched {
    const touched = { servers: this.#touchedServers, elements: this.#touchedElements };
    this.#touchedServers = new Set();
    this.#touchedElements = new Map();
    return touched;
  }

  #countDrops(drops: readonly Drop[], by: 1 | -1): void {
    for (const drop of drops) {
      if (count(this.#drops, printDrop(drop), drop, by)) this.#sortedDrops = undefined;
    }
  }

  #of(set: SetKey): Map<string, Counted<Element>> {
    return this.#elements.get(set) ?? new Map();
  }

  #touch(set: SetKey, text: string): void {
    const touched = this.#touchedElements.get(set);
    if (touched) touched.add(text);
    else this.#touchedElements.set(set, new Set([text]));
  }
}

/** A node port gives way to an address that a Service names, for only that can be moved; then the first by name has it. */
function byRight(a: Claim, b: Claim): number {
  const rank = ({ server }: Claim) => (server.kind === 'NodePort' ? 1 : 0);
  return rank(a) - rank(b) || (a.id < b.id ? -1 : 1);
}

function printDrop({ ip, protocol, port }: Drop): string {
  return `${ip} ${protocol} ${port}`;
}

/** Says whether it came or went by this. */
function count<T>(counts: Map<string, Counted<T>>, key: string, value: T, by: 1 | -1): boolean {
  const counted = counts.get(key);
  if (!counted) {
    if (by > 0) counts.set(key, { value, count: 1 });
    return by > 0;
  }
  counted.count += by;
  if (counted.count > 0) return false;
  counts.delete(key);
  return true;
}
