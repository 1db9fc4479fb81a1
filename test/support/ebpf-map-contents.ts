import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { BpfMap, mapInfo, openPin } from '../../src/kernel/bpf/index.ts';
import { DIGIT } from '../../src/modes/ebpf/generation/capacity.ts';
import type { GenerationMaps } from '../../src/modes/ebpf/generation/maps.ts';
import {
  decodeFrontendKey,
  decodeMember,
  decodeNodeAddress,
  decodeNodeAddressKey,
  decodePool,
  decodeSlot,
  decodeTarget,
  type Endpoint,
  flagNames,
  type MapName,
  mapSpec,
} from '../../src/modes/ebpf/programs/index.ts';
import { FAMILIES, type Family, joinHostPort } from '../../src/net/index.ts';

const text = ({ ip, port }: Endpoint) => joinHostPort(ip, port);

/** What the kernel has in the maps of a generation, as sorted lines without the numbers of pools and slots. */
export function mapContents(maps: GenerationMaps | undefined): readonly string[] {
  assert.ok(maps, 'there is no generation');
  return FAMILIES.flatMap(family => [
    ...frontendLines(maps, family),
    ...nodeAddressLines(maps.get(`nodeAddresses${DIGIT[family]}`)),
  ]).sort();
}

function frontendLines(maps: GenerationMaps, family: Family): readonly string[] {
  const digit = DIGIT[family];
  /** The frontends that lead to a pool say which pool it is. */
  const leading = new Map<number, string[]>();
  const frontends = entriesOf(maps.get(`frontends${digit}`)).map(([key, value]) => {
    const { ip, port } = decodeFrontendKey(key);
    const { pool, flags, affinitySeconds, identity } = decodeTarget(value);
    const name = joinHostPort(ip ?? 'node', port);
    const others = leading.get(pool);
    if (others) others.push(name);
    else leading.set(pool, [name]);
    return `frontend ${name} ${flagNames(flags)} ${affinitySeconds}s ${identity} pool ${endpointsOf(maps, family, pool)}`;
  });
  const pools = [...leading.values()].map(names => `pool of ${names.sort()}`);
  const members = entriesOf(maps.get(`members${digit}`)).map(([key]) => {
    const member = decodeMember(key);
    return `member ${text(member)} of ${leading.get(member.pool) ?? 'no frontend'}`;
  });
  return [...frontends, ...pools, ...members];
}

function endpointsOf(maps: GenerationMaps, family: Family, pool: number): readonly string[] {
  const { first, count } = decodePool(elementOf(maps.get('pools'), pool));
  const slots = maps.get(`slots${DIGIT[family]}`);
  return Array.from({ length: count }, (_, i) => text(decodeSlot(elementOf(slots, first + i)))).sort();
}

function nodeAddressLines(map: BpfMap | undefined): readonly string[] {
  return entriesOf(map).map(([key, value]) => `node address ${decodeNodeAddressKey(key)} ${decodeNodeAddress(value)}`);
}

/** The endpoints in the pinned maps that count connections, sorted. */
export function countedEndpoints(pinFolder: string): readonly string[] {
  return FAMILIES.flatMap(family => {
    const name: MapName = `active${DIGIT[family]}`;
    if (!existsSync(`${pinFolder}/${name}`)) return [];
    const fd = openPin(`${pinFolder}/${name}`);
    assert.ok(fd !== undefined);
    const map = BpfMap.of(fd, mapSpec(name, mapInfo(fd).entries));
    try {
      return entriesOf(map).map(([key]) => text(decodeSlot(key)));
    } finally {
      map.close();
    }
  }).sort();
}

function entriesOf(map: BpfMap | undefined): readonly (readonly [key: Buffer, value: Buffer])[] {
  if (!map) return [];
  const { keys, values } = map.entries();
  const { keyBytes, valueBytes } = map.spec;
  return Array.from({ length: keys.length / keyBytes }, (_, i) => [
    keys.subarray(i * keyBytes, (i + 1) * keyBytes),
    values.subarray(i * valueBytes, (i + 1) * valueBytes),
  ]);
}

function elementOf(map: BpfMap | undefined, index: number): Buffer {
  const key = Buffer.alloc(4);
  key.writeUInt32LE(index);
  return map?.lookup(key) ?? assert.fail(`there is no element ${index}`);
}
