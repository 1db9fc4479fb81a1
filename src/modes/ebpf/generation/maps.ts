import { BpfMap } from '../../../kernel/bpf/index.ts';
import { type MapName, mapSpec } from '../programs/index.ts';
import type { Capacity, SizedMap } from './capacity.ts';
import type { Features } from './features.ts';

/** Maps that outlive generations. Those of parts that a generation lacks are missing. */
export type StateMaps = ReadonlyMap<MapName, BpfMap>;

/** The maps that belong to one generation. */
export type GenerationMaps = ReadonlyMap<MapName, BpfMap>;

const ALWAYS: readonly SizedMap[] = [
  'frontends4',
  'frontends6',
  'nodeAddresses4',
  'nodeAddresses6',
  'pools',
  'slots4',
  'slots6',
];

const NAMESPACE_VALUE = Buffer.from([1, 0, 0, 0]);

export function createMaps(capacity: Capacity, features: Features): GenerationMaps {
  const names: SizedMap[] = [...ALWAYS];
  if (features.affinity) names.push('members4', 'members6');
  if (features.counts) names.push('counts');
  return allOrNone(maps => {
    for (const name of names) maps.set(name, BpfMap.create(mapSpec(name, capacity[name])));
    maps.set('lease', BpfMap.create(mapSpec('lease', 1)));
    if (features.listedNamespaces) listNamespaces(maps, features.listedNamespaces);
  });
}

/** The maps that hold runs of slots. */
export type RunMap = 'pools' | 'slots4' | 'slots6';

export function createRunMaps(capacity: Pick<Capacity, RunMap>): GenerationMaps {
  return allOrNone(maps => {
    for (const name of ['pools', 'slots4', 'slots6'] as const) {
      maps.set(name, BpfMap.create(mapSpec(name, capacity[name])));
    }
  });
}

function allOrNone(create: (maps: Map<MapName, BpfMap>) => void): GenerationMaps {
  const maps = new Map<MapName, BpfMap>();
  try {
    create(maps);
    return maps;
  } catch (error) {
    closeMaps(maps);
    throw error;
  }
}

export function closeMaps(maps: GenerationMaps): void {
  for (const map of maps.values()) map.close();
}

export function mapNamed(maps: GenerationMaps, name: MapName): BpfMap {
  const map = maps.get(name);
  if (!map) throw new RangeError(`this generation has no map ${name}`);
  return map;
}

function listNamespaces(maps: Map<MapName, BpfMap>, cookies: readonly bigint[]): void {
  const map = BpfMap.create(mapSpec('namespaces', Math.max(1, cookies.length)));
  maps.set('namespaces', map);
  for (const cookie of cookies) {
    const key = Buffer.alloc(8);
    key.writeBigUInt64LE(cookie);
    map.update(key, NAMESPACE_VALUE);
  }
}
