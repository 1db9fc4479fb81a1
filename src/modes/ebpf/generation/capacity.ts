import { FAMILIES, type Family } from '../../../net/index.ts';
import type { MapName } from '../programs/index.ts';
import type { FamilyContents } from './contents.ts';
import { Need } from './need.ts';

/** Used and possible entries of a map. */
export interface Usage {
  readonly map: string;
  readonly used: number;
  readonly capacity: number;
}

/** How many entries each map of a generation can hold. */
export type Capacity = Readonly<Record<SizedMap, number>>;

/** The names of maps whose size depends on the Services. */
export type SizedMap = Exclude<
  MapName,
  'peers' | 'affinity4' | 'affinity6' | 'active4' | 'active6' | 'lease' | 'namespaces'
>;

const MIN_FRONTENDS = 2048;
const MIN_POOLS = 4096;
const MIN_SLOTS = 8192;
const MIN_MEMBERS = 4096;
const MIN_NODE_ADDRESSES = 1024;
/** Frontends come and go one by one, and the kernel takes the memory of all that there may be. */
const FRONTEND_GROWTH = 1.25;
const GROWTH = 2;
/** Every change of a pool takes a new run of slots. */
const SLOT_GROWTH = 4;

/** The digit that a map's name ends with. */
export const DIGIT = { IPv4: 4, IPv6: 6 } as const satisfies Record<Family, 4 | 6>;

export function capacityFor(contents: readonly FamilyContents[]): Capacity {
  const of = (family: Family) => contents.find(each => each.family === family);
  const [need4, need6] = FAMILIES.map(family => of(family)?.need ?? new Need()) as [Need, Need];
  const [v4, v6] = [familyCapacity(need4, of('IPv4')), familyCapacity(need6, of('IPv6'))];
  return {
    frontends4: v4.frontends,
    frontends6: v6.frontends,
    nodeAddresses4: v4.nodeAddresses,
    nodeAddresses6: v6.nodeAddresses,
    slots4: v4.slots,
    slots6: v6.slots,
    members4: v4.members,
    members6: v6.members,
    // Element 0 stays unused in both.
    pools: Math.max(MIN_POOLS, (need4.pools + need6.pools) * GROWTH + 1),
    counts: Math.max(MIN_POOLS, (need4.ports + need6.ports) * GROWTH + 1),
  };
}

function familyCapacity({ frontends, slots, members }: Need, contents: FamilyContents | undefined) {
  return {
    frontends: Math.max(MIN_FRONTENDS, Math.ceil(frontends * FRONTEND_GROWTH)),
    slots: slotCapacity(slots),
    members: Math.max(MIN_MEMBERS, members * GROWTH),
    nodeAddresses: Math.max(MIN_NODE_ADDRESSES, (contents?.nodeAddresses.size ?? 0) * GROWTH),
  };
}

/** With room for changes. */
export function slotCapacity(slots: number): number {
  return Math.max(MIN_SLOTS, slots * SLOT_GROWTH);
}
