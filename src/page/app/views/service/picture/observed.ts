import type { Place } from '../../../../../explain/index.ts';
import type { ObservedConnection } from '../../../../../inspect/index.ts';
import { MORE, type Picture } from './model.ts';

/** Real connections that the picture shows, since the page is open. */
export interface Observed {
  /** By `wayKey`. */
  readonly ways: ReadonlyMap<string, Tally>;
  /** By `linkKey`. */
  readonly links: ReadonlyMap<string, number>;
  /** The latest connections that were not as planned, the newest first. */
  readonly unplanned: readonly ObservedConnection[];
  /** The lines on which connections were in the last event. */
  readonly moving: readonly Movement[];
  /** Counts the events, so that each movement is drawn once. */
  readonly round: number;
}

export interface Tally {
  readonly count: number;
  readonly unplanned: number;
}

export interface Movement {
  readonly from: Place;
  readonly to: string;
  /** Undefined if no endpoint answered. */
  readonly endpoint: string | undefined;
}

export const NOTHING_OBSERVED: Observed = {
  ways: new Map(),
  links: new Map(),
  unplanned: [],
  moving: [],
  round: 0,
};

const MAX_UNPLANNED = 5;

export function wayKey(from: Place, to: string): string {
  return `${from} ${to}`;
}

export function linkKey(to: string, endpoint: string): string {
  return `${to} ${endpoint}`;
}

/** Adds what one event reports about the Service. Connections to frontends that the picture does not show are left out. */
export function observe(before: Observed, connections: readonly ObservedConnection[], picture: Picture): Observed {
  const ways = new Map(before.ways);
  const links = new Map(before.links);
  const moving: Movement[] = [];
  const unplanned: ObservedConnection[] = [];
  for (const connection of connections) {
    const to = frontendOf(connection, picture);
    if (to === undefined) continue;
    const { from, count, isAsPlanned } = connection;
    const key = wayKey(from, to);
    const tally = ways.get(key) ?? { count: 0, unplanned: 0 };
    ways.set(key, { count: tally.count + count, unplanned: tally.unplanned + (isAsPlanned ? 0 : count) });
    const endpoint = connection.endpoint === undefined ? undefined : shownEndpoint(connection.endpoint, picture);
    if (endpoint !== undefined) links.set(linkKey(to, endpoint), (links.get(linkKey(to, endpoint)) ?? 0) + count);
    moving.push({ from, to, endpoint });
    if (!isAsPlanned) unplanned.unshift(connection);
  }
  if (moving.length === 0) return before;
  const latest = [...unplanned, ...before.unplanned].reduce(addUnplanned, []).slice(0, MAX_UNPLANNED);
  return { ways, links, unplanned: latest, moving, round: before.round + 1 };
}

/** The same again only counts. */
function addUnplanned(list: readonly ObservedConnection[], added: ObservedConnection): readonly ObservedConnection[] {
  const isSame = (each: ObservedConnection) =>
    (['from', 'to', 'protocol', 'endpoint', 'failure', 'seenAs'] as const).every(field => each[field] === added[field]);
  if (!list.some(isSame)) return [...list, added];
  return list.map(each => (isSame(each) ? { ...each, count: each.count + added.count } : each));
}

/** A connection to a node port goes to any address of the node. */
function frontendOf({ to }: ObservedConnection, { frontends }: Picture): string | undefined {
  const exact = frontends.find(({ id }) => id === to);
  if (exact) return exact.id;
  const port = to.slice(to.lastIndexOf(':') + 1);
  return frontends.find(({ id, detail }) => detail.address === undefined && id === port)?.id;
}

function shownEndpoint(endpoint: string, { endpoints }: Picture): string {
  return endpoints.some(({ detail }) => detail.address === endpoint) ? endpoint : MORE;
}
