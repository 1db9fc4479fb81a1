import type { KernelDetail, PortKernelDetail } from '../../../../../inspect/index.ts';

export type Entry = PortKernelDetail['entries'][number];

/** The entries of one place: a map, a set, a chain. */
export interface PlaceEntries {
  readonly place: string;
  readonly entries: readonly Entry[];
}

/** What the kernel has for a service port, sorted for people. */
export interface PortComparison {
  readonly port: PortKernelDetail;
  /** Missing, different and unexpected ones. */
  readonly differing: readonly Entry[];
  readonly equal: readonly PlaceEntries[];
  readonly equalCount: number;
}

export function comparePort(port: PortKernelDetail): PortComparison {
  const equal = port.entries.filter(({ state }) => state === 'equal');
  return {
    port,
    differing: port.entries.filter(({ state }) => state !== 'equal'),
    equal: byPlace(equal),
    equalCount: equal.length,
  };
}

/** In the order of the first entry of each place. */
function byPlace(entries: readonly Entry[]): readonly PlaceEntries[] {
  const places = new Map<string, Entry[]>();
  for (const entry of entries) {
    const known = places.get(entry.place);
    if (known) known.push(entry);
    else places.set(entry.place, [entry]);
  }
  return [...places].map(([place, list]) => ({ place, entries: list }));
}

/** One sentence about the whole reading. */
export function readingText({ ports }: KernelDetail): string {
  const entries = ports.flatMap(port => port.entries);
  const count = (state: Entry['state']) => entries.filter(entry => entry.state === state).length;
  const differences = (['missing', 'different', 'unexpected'] as const)
    .map(state => ({ state, number: count(state) }))
    .filter(({ number }) => number > 0)
    .map(({ state, number }) => `${number} ${state}`);
  if (entries.length === 0) return 'The kernel has nothing for this Service, and the proxy wants nothing there.';
  if (differences.length === 0) return `The kernel has all ${entries.length} entries that the proxy wants.`;
  return `The kernel differs from the plan: ${differences.join(', ')}, ${count('equal')} equal.`;
}

/** `http 80/TCP IPv4`, as the tabs of ports say it. */
export function portTitle({ name, protocol, family }: Pick<PortKernelDetail, 'name' | 'protocol' | 'family'>): string {
  return `${name === '' ? protocol : `${name} ${protocol}`} ${family}`;
}
