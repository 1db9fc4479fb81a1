import { bpfError } from './error.ts';
import { bytesOf, type Struct, struct, u8, u32, u64 } from './struct.ts';
import { type FieldValues, StructBytes } from './struct-bytes.ts';
import { bpf, callBpf } from './system-call.ts';

/** Structures of `linux/bpf.h` in which the kernel describes its objects, as far as they are used here. */

/** `struct bpf_prog_info` */
export const ProgramInfoLayout = struct({
  type: u32,
  id: u32,
  tag: [u8, 8],
  machineCodeSize: u32,
  codeSize: u32,
  machineCode: u64,
  code: u64,
  loadTime: u64,
  user: u32,
  mapCount: u32,
  maps: u64,
  name: [u8, 16],
});

/** `struct bpf_map_info` */
export const MapInfoLayout = struct({
  type: u32,
  id: u32,
  keySize: u32,
  valueSize: u32,
  maxEntries: u32,
  flags: u32,
  name: [u8, 16],
});

/** `struct bpf_link_info` of a link to a control group. */
export const LinkInfoLayout = struct({ type: u32, id: u32, program: u32, cgroup: u64, attachType: u32 });

/** The kernel keeps 15 characters of a name, and takes only letters, digits, underscores and dots. */
export function objectName(name: string): string {
  return name.replaceAll(/[^\w.]/g, '_').slice(0, 15);
}

/** Asks the kernel about a map, a program or a link. `values` says where the kernel may write arrays. */
export function objectInfo<Name extends string>(
  fd: number,
  type: Struct<Name>,
  values?: FieldValues<Name>,
): StructBytes<Name> {
  const info = new StructBytes(type, values);
  bpf('OBJ_GET_INFO_BY_FD', 'object', { fd, info: info.bytes, infoSize: bytesOf(type) });
  return info;
}

export interface ProgramInfo {
  readonly id: number;
  readonly name: string;
  /** A hash of the instructions, without the maps. */
  readonly tag: string;
  /** The ids of the maps that the program uses. */
  readonly maps: readonly number[];
}

/** A program may use no more maps. */
const MAX_MAPS = 64;

export function programInfo(fd: number): ProgramInfo {
  const maps = Buffer.alloc(MAX_MAPS * 4);
  const info = objectInfo(fd, ProgramInfoLayout, { mapCount: MAX_MAPS, maps });
  return {
    id: info.number('id'),
    name: info.text('name'),
    tag: info.array('tag').toString('hex'),
    maps: readIds(maps, info.number('mapCount')),
  };
}

export interface MapInfo {
  readonly id: number;
  /** As in `linux/bpf.h`. */
  readonly type: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
  readonly entries: number;
  readonly name: string;
}

export function mapInfo(fd: number): MapInfo {
  const info = objectInfo(fd, MapInfoLayout);
  return {
    id: info.number('id'),
    type: info.number('type'),
    keyBytes: info.number('keySize'),
    valueBytes: info.number('valueSize'),
    entries: info.number('maxEntries'),
    name: info.text('name'),
  };
}

/** Opens a program by its id. Needs CAP_SYS_ADMIN. Returns a descriptor. */
export function programById(id: number): number {
  return openById('PROG_GET_FD_BY_ID', `program ${id}`, id);
}

/** Opens a map by its id. Needs CAP_SYS_ADMIN. Returns a descriptor. */
export function mapById(id: number): number {
  return openById('MAP_GET_FD_BY_ID', `map ${id}`, id);
}

/** Ids that the kernel wrote, of which there may be more than room. */
export function readIds(bytes: Buffer, count: number): readonly number[] {
  return Array.from({ length: Math.min(count, bytes.length / 4) }, (_, i) => bytes.readUInt32LE(i * 4));
}

function openById(command: 'PROG_GET_FD_BY_ID' | 'MAP_GET_FD_BY_ID', what: string, id: number): number {
  const { result, errno } = callBpf(command, { id });
  if (errno !== undefined) throw bpfError(command, what, errno, { capabilities: ['CAP_SYS_ADMIN'] });
  return result;
}
