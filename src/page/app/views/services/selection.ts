import { isBrokenState, STATE_ORDER } from '../../parts/service-states.ts';
import type { IndexedService } from '../../state/service-index.ts';
import { searchMatcher } from './search.ts';

export const FILTERS = ['all', 'broken', 'noEndpoints', 'noLocalEndpoints', 'setAside', 'changed'] as const;
export type Filter = (typeof FILTERS)[number];

export const FILTER_WORDS: Readonly<Record<Filter, string>> = {
  all: 'All',
  broken: 'Broken',
  noEndpoints: 'Without endpoints',
  noLocalEndpoints: 'Local without local endpoints',
  setAside: 'Set aside',
  changed: 'Changed lately',
};

export const ORDERS = ['name', 'state', 'changed', 'connections'] as const;
export type Order = (typeof ORDERS)[number];

export const ORDER_WORDS: Readonly<Record<Order, string>> = {
  name: 'Name',
  state: 'State',
  changed: 'Last change',
  connections: 'Connections a second',
};

/** "Lately" is this long. */
const LATELY_MS = 10 * 60_000;

export interface Question {
  readonly text: string;
  readonly filter: Filter;
  readonly order: Order;
}

export interface Circumstances {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** New connections a second, of those that have any. */
  readonly rates: ReadonlyMap<string, number>;
  /** Services that the proxy found by an endpoint or a pod. */
  readonly found: ReadonlyMap<string, string>;
}

export interface Selection {
  readonly services: readonly IndexedService[];
  /** How many Services there are. */
  readonly total: number;
  /** How many Services that match the search each filter has. */
  readonly counts: Readonly<Record<Filter, number>>;
}

export function toFilter(text: string | undefined): Filter {
  return FILTERS.find(filter => filter === text) ?? 'all';
}

export function toOrder(text: string | undefined): Order {
  return ORDERS.find(order => order === text) ?? 'name';
}

/** What the list shows. `all` is sorted by name. */
export function selectServices(
  all: readonly IndexedService[],
  { text, filter, order }: Question,
  circumstances: Circumstances,
): Selection {
  const { now, found } = circumstances;
  const matches = searchMatcher(text);
  const since = now - LATELY_MS;
  const counts = { all: 0, broken: 0, noEndpoints: 0, noLocalEndpoints: 0, setAside: 0, changed: 0 };
  const services: IndexedService[] = [];
  for (const service of all) {
    if (matches && !matches(service) && !found.has(service.key)) continue;
    for (const name of FILTERS) {
      if (!passes(name, service, since)) continue;
      counts[name]++;
      if (name === filter) services.push(service);
    }
  }
  return { services: inOrder(services, order, circumstances), total: all.length, counts };
}

function passes(filter: Filter, { row, changedAt }: IndexedService, since: number): boolean {
  switch (filter) {
    case 'all':
      return true;
    case 'broken':
      return isBrokenState(row.state);
    case 'noEndpoints':
      return row.state === 'noEndpoints' || row.endpoints.some(({ all }) => all === 0);
    case 'changed':
      return changedAt >= since;
    default:
      return row.state === filter;
  }
}

/** `services` is sorted by name, and stays so where the order says nothing. */
function inOrder(
  services: readonly IndexedService[],
  order: Order,
  { rates }: Circumstances,
): readonly IndexedService[] {
  switch (order) {
    case 'name':
      return services;
    case 'state':
      return byState(services);
    case 'changed':
      return largestFirst(services, ({ changedAt }) => changedAt);
    case 'connections':
      return largestFirst(services, ({ key }) => rates.get(key) ?? 0);
  }
}

function byState(services: readonly IndexedService[]): readonly IndexedService[] {
  const groups = new Map<string, IndexedService[]>([...STATE_ORDER, ''].map(state => [state, []]));
  for (const service of services) (groups.get(service.row.state) ?? groups.get(''))?.push(service);
  return [...groups.values()].flat();
}

/** Most Services have zero, so only the others are sorted. */
function largestFirst(
  services: readonly IndexedService[],
  sizeOf: (service: IndexedService) => number,
): readonly IndexedService[] {
  const some = services.filter(service => sizeOf(service) > 0).sort((a, b) => sizeOf(b) - sizeOf(a));
  return [...some, ...services.filter(service => !(sizeOf(service) > 0))];
}
