import { FAMILIES, type Family } from '../../../net/index.ts';
import type { MapName } from '../programs/index.ts';
import { type FamilyContents, portsOf } from './contents.ts';

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
  const families = Object.fromEntries(FAMILIES.map(family => [family, needOf(family, contents)])) as Record<
    Family,
    Need
  >;
  const both = (field: 'pools' | 'ports') => families.IPv4[field] + families.IPv6[field];
  const of = ({ frontends, slots, members, nodeAddresses }: Need) => ({
    frontends: Math.max(MIN_FRONTENDS, Math.ceil(frontends * FRONTEND_GROWTH)),
    slots: slotCapacity(slots),
    members: Math.max(MIN_MEMBERS, members * GROWTH),
    nodeAddresses: Math.max(MIN_NODE_ADDRESSES, nodeAddresses * GROWTH),
  });
  const [v4, v6] = [of(families.IPv4), of(families.IPv6)];
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
    pools: Math.max(MIN_POOLS, both('pools') * GROWTH + 1),
    counts: Math.max(MIN_POOLS, both('ports') * GROWTH + 1),
  };
}

/** With room for changes. */
export function slotCapacity(slots: number): number {
  return Math.max(MIN_SLOTS, slots * SLOT_GROWTH);
}

interface Need {
  readonly ports: number;
  readonly frontends: number;
  readonly pools: number;
  readonly slots: number;
  readonly members: number;
  readonly nodeAddresses: number;
}

function needOf(family: Family, contents: readonly FamilyContents[]): Need {
  const need = { ports: 0, frontends: 0, pools: 0, slots: 0, members: 0, nodeAddresses: 0 };
  for (const each of contents.filter(one => one.family === family)) {
    need.nodeAddresses += each.nodeAddresses.size;
    need.ports += each.kept.length + each.added.length;
    for (const { targets, pools, affinitySeconds } of portsOf(each)) {
      need.frontends += targets.length;
      need.pools += pools.length;
      for (const { endpoints } of pools) {
        need.slots += endpoints.length;
        if (affinitySeconds > 0) need.members += endpoints.length;
      }
    }
  }
  return need;
}
