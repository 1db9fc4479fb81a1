import {
  BPFFS,
  BpfLink,
  BpfMap,
  closeObject,
  isBpffs,
  mapById,
  mapInfo,
  nodeControlGroup,
  PinFolder,
  programById,
  programInfo,
} from '../../../kernel/bpf/index.ts';
import type { Family, Ip } from '../../../net/index.ts';
import { DIGIT } from '../generation/capacity.ts';
import type { AttachmentOptions } from '../links/attachment.ts';
import { linkPin, pinPath } from '../names.ts';
import {
  decodeFrontendKey,
  decodeNodeAddress,
  decodeNodeAddressKey,
  decodePool,
  decodeSlot,
  decodeTarget,
  MAP_NAMES,
  type MapName,
  mapSpec,
} from '../programs/index.ts';
import type { NodeAddressKind, SocketEndpoint } from '../render.ts';
import { frontendName } from './map-texts.ts';
import type { SocketTable } from './table-lines.ts';

/**
 * What the pinned programs of a family look up. Undefined if nothing is pinned. Service maps have no pins: the link leads
 * to its program, and the program to its maps. Needs CAP_SYS_ADMIN.
 */
export function pinnedTable(family: Family, { cgroupRoot, bpffs = BPFFS }: AttachmentOptions): SocketTable | undefined {
  const group = nodeControlGroup(cgroupRoot);
  if ('missing' in group || !isBpffs(bpffs)) return undefined;
  const fd = new PinFolder(pinPath(bpffs, group.id)).open(linkPin(`connect${DIGIT[family]}`));
  if (fd === undefined) return undefined;
  const link = BpfLink.of(fd);
  try {
    const { program, cgroup } = link.info();
    // A link that was detached leads no connection anywhere.
    return cgroup === 0n ? undefined : tableOf(family, program);
  } finally {
    link.close();
  }
}

function tableOf(family: Family, program: number): SocketTable {
  const maps = mapsOf(program);
  try {
    const digit = DIGIT[family];
    const targets = targetsOf(maps.get(`frontends${digit}`));
    const used = new Set([...targets.values()].map(({ value }) => value.pool));
    return {
      targets,
      pools: poolsOf(maps.get('pools'), maps.get(`slots${digit}`), used),
      nodeAddresses: nodeAddressesOf(maps.get(`nodeAddresses${digit}`)),
    };
  } finally {
    for (const map of maps.values()) map.close();
  }
}

/** The maps that a program names. */
function mapsOf(program: number): ReadonlyMap<MapName, BpfMap> {
  const fd = programById(program);
  try {
    const maps = new Map<MapName, BpfMap>();
    for (const id of programInfo(fd).maps) {
      const map = mapById(id);
      const { name, entries } = mapInfo(map);
      const known = MAP_NAMES.find(each => each === name);
      if (known) maps.set(known, BpfMap.of(map, mapSpec(known, entries)));
      else closeObject(map);
    }
    return maps;
  } finally {
    closeObject(fd);
  }
}

function targetsOf(map: BpfMap | undefined): SocketTable['targets'] {
  const targets = new Map<string, { ip: Ip | undefined; port: number; value: ReturnType<typeof decodeTarget> }>();
  for (const [key, value] of elementsOf(map)) {
    const { ip, port } = decodeFrontendKey(key);
    targets.set(frontendName({ ip, port }), { ip, port, value: decodeTarget(value) });
  }
  return targets;
}

function poolsOf(pools: BpfMap | undefined, slots: BpfMap | undefined, used: ReadonlySet<number>) {
  const found = new Map<number, readonly SocketEndpoint[]>();
  for (const index of used) {
    const bytes = pools?.lookup(indexBytes(index));
    if (!bytes) continue;
    const { first, count } = decodePool(bytes);
    const numbers = Array.from({ length: count }, (_, i) => first + i);
    found.set(
      index,
      numbers.flatMap(number => endpointAt(slots, number)),
    );
  }
  return found;
}

function endpointAt(slots: BpfMap | undefined, number: number): readonly SocketEndpoint[] {
  const bytes = slots?.lookup(indexBytes(number));
  return bytes ? [decodeSlot(bytes)] : [];
}

function nodeAddressesOf(map: BpfMap | undefined): ReadonlyMap<Ip, NodeAddressKind> {
  return new Map(Array.from(elementsOf(map), ([key, value]) => [decodeNodeAddressKey(key), decodeNodeAddress(value)]));
}

function* elementsOf(map: BpfMap | undefined): Generator<readonly [key: Buffer, value: Buffer]> {
  if (!map) return;
  const { keyBytes, valueBytes } = map.spec;
  const { keys, values } = map.entries();
  for (let i = 0; i * keyBytes < keys.length; i++) {
    yield [keys.subarray(i * keyBytes, (i + 1) * keyBytes), values.subarray(i * valueBytes, (i + 1) * valueBytes)];
  }
}

/** The key of an element of an array. */
export function indexBytes(index: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(index);
  return bytes;
}
