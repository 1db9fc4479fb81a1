import { bytesOf, type MapSpec } from '../../../kernel/bpf/index.ts';
import { AFFINITY_BYTES, AFFINITY_KEY_BYTES } from './affinity.ts';
import { FRONTEND_KEY_BYTES } from './frontend-key.ts';
import { Peer } from './layout.ts';
import { LEASE_BYTES } from './lease.ts';
import { MEMBER_BYTES } from './member.ts';
import { POOL_BYTES } from './pool.ts';
import { SLOT_BYTES } from './slot.ts';
import { TARGET_BYTES } from './target.ts';

type Shape = Omit<MapSpec, 'name' | 'entries'>;

const hash = (keyBytes: number, valueBytes: number): Shape => ({ type: 'hash', keyBytes, valueBytes });
const preallocated = (keyBytes: number, valueBytes: number): Shape => ({
  ...hash(keyBytes, valueBytes),
  type: 'preallocated hash',
});
const array = (valueBytes: number): Shape => ({ type: 'array', keyBytes: 4, valueBytes });
const lru = (keyBytes: number, valueBytes: number): Shape => ({ type: 'lru hash', keyBytes, valueBytes });

/** Every map that a program may name. */
const SHAPES = {
  frontends4: preallocated(FRONTEND_KEY_BYTES.IPv4, TARGET_BYTES),
  frontends6: preallocated(FRONTEND_KEY_BYTES.IPv6, TARGET_BYTES),
  nodeAddresses4: hash(4, 4),
  nodeAddresses6: hash(16, 4),
  pools: array(POOL_BYTES),
  slots4: array(SLOT_BYTES.IPv4),
  slots6: array(SLOT_BYTES.IPv6),
  members4: hash(MEMBER_BYTES.IPv4, 4),
  members6: hash(MEMBER_BYTES.IPv6, 4),
  affinity4: lru(AFFINITY_KEY_BYTES, AFFINITY_BYTES.IPv4),
  affinity6: lru(AFFINITY_KEY_BYTES, AFFINITY_BYTES.IPv6),
  active4: hash(SLOT_BYTES.IPv4, 4),
  active6: hash(SLOT_BYTES.IPv6, 4),
  counts: { type: 'per-cpu array', keyBytes: 4, valueBytes: 8 },
  lease: array(LEASE_BYTES),
  namespaces: hash(8, 4),
  peers: { type: 'socket storage', keyBytes: 4, valueBytes: bytesOf(Peer), value: Peer },
} as const satisfies Readonly<Record<string, Shape>>;

export type MapName = keyof typeof SHAPES;

export const MAP_NAMES = Object.keys(SHAPES) as readonly MapName[];

/** `entries` is the most that the map can hold. `peers` has no such limit. */
export function mapSpec(name: MapName, entries: number): MapSpec {
  return { ...SHAPES[name], name, entries: name === 'peers' ? 0 : entries };
}
