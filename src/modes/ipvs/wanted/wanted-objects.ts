import { type Element, printElement } from '../../../kernel/ipset/index.ts';
import { compareTexts } from '../../../lib/compare-texts.ts';
import type { ServicePortPlan } from '../../../plan/index.ts';
import { SET_KEYS, type SetKey } from '../names.ts';
import type { Drop, Rendered } from '../render.ts';
import type { VirtualServer } from './virtual-server.ts';

/** A service port that wants a virtual server. */
interface Candidate {
  readonly id: string;
  readonly plan: ServicePortPlan;
  readonly server: VirtualServer;
}

interface Counted<T> {
  readonly value: T;
  count: number;
}

/** Names of elements, by set: `10.96.0.1,tcp:80`. */
export type ElementNames = ReadonlyMap<SetKey, ReadonlySet<string>>;

/** Names of virtual servers and of elements. */
export interface ObjectNames {
  readonly servers: ReadonlySet<string>;
  readonly elements: ElementNames;
}

/**
 * All objects of one family that the kernel should have, by name. Elements are counted, because several service ports
 * share some: addresses, hairpins, health check ports.
 */
export class WantedObjects {
  readonly #servers = new Map<string, readonly Candidate[]>();
  readonly #elements = new Map<SetKey, Map<string, Counted<Element>>>(SET_KEYS.map(set => [set, new Map()]));
  readonly #drops = new Map<string, Counted<Drop>>();
  #sortedDrops: readonly Drop[] | undefined;
  #changedServers = new Set<string>();
  #changedElements = new Map<SetKey, Set<string>>();

  /** `id`: of the plan. */
  add(id: string, plan: ServicePortPlan, { servers, elements, drops }: Rendered): void {
    for (const server of servers) {
      const candidates = this.#servers.get(server.id);
      const candidate = { id, plan, server };
      this.#servers.set(server.id, candidates ? [...candidates, candidate].sort(byPriority) : [candidate]);
      this.#changedServers.add(server.id);
    }
    for (const { set, element } of elements) {
      const name = printElement(element);
      if (count(this.#of(set), name, element, 1)) this.#noteChange(set, name);
    }
    this.#countDrops(drops, 1);
  }

  remove(id: string, { servers, elements, drops }: Rendered): void {
    for (const { id: server } of servers) {
      const left = this.#servers.get(server)?.filter(candidate => candidate.id !== id) ?? [];
      if (left.length > 0) this.#servers.set(server, left);
      else this.#servers.delete(server);
      this.#changedServers.add(server);
    }
    for (const { set, element } of elements) {
      const name = printElement(element);
      if (count(this.#of(set), name, element, -1)) this.#noteChange(set, name);
    }
    this.#countDrops(drops, -1);
  }

  server(id: string): VirtualServer | undefined {
    return this.#servers.get(id)?.[0]?.server;
  }

  /** The plan of the service port that has the virtual server. */
  planOf(server: string): ServicePortPlan | undefined {
    return this.#servers.get(server)?.[0]?.plan;
  }

  serverIds(): Iterable<string> {
    return this.#servers.keys();
  }

  get serverCount(): number {
    return this.#servers.size;
  }

  element(set: SetKey, name: string): Element | undefined {
    return this.#of(set).get(name)?.value;
  }

  elementNames(set: SetKey): Iterable<string> {
    return this.#of(set).keys();
  }

  elementCount(set: SetKey): number {
    return this.#of(set).size;
  }

  isEmpty(set: SetKey): boolean {
    return this.elementCount(set) === 0;
  }

  /** Sorted, so that the order does not depend on that of events. The same list until a drop changes. */
  drops(): readonly Drop[] {
    this.#sortedDrops ??= [...this.#drops].sort(([a], [b]) => compareTexts(a, b)).map(([, { value }]) => value);
    return this.#sortedDrops;
  }

  /** The objects that were added or removed since the last call. */
  takeChanged(): ObjectNames {
    const changed = { servers: this.#changedServers, elements: this.#changedElements };
    this.#changedServers = new Set();
    this.#changedElements = new Map();
    return changed;
  }

  #countDrops(drops: readonly Drop[], by: 1 | -1): void {
    for (const drop of drops) {
      if (count(this.#drops, printDrop(drop), drop, by)) this.#sortedDrops = undefined;
    }
  }

  #of(set: SetKey): Map<string, Counted<Element>> {
    return this.#elements.get(set) ?? new Map();
  }

  #noteChange(set: SetKey, name: string): void {
    const changed = this.#changedElements.get(set);
    if (changed) changed.add(name);
    else this.#changedElements.set(set, new Set([name]));
  }
}

/**
 * An address that a Service names comes before a node port, because the node port is reachable at other addresses too.
 * Then the name decides.
 */
function byPriority(a: Candidate, b: Candidate): number {
  const rank = ({ server }: Candidate) => (server.kind === 'NodePort' ? 1 : 0);
  return rank(a) - rank(b) || compareTexts(a.id, b.id);
}

function printDrop({ ip, protocol, port }: Drop): string {
  return `${ip} ${protocol} ${port}`;
}

/** Returns true if the first one was added, or the last one removed. */
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
