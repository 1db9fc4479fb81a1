import { Attributes, bpf } from './system-call.ts';

/** What the kernel tells of a map, a program or a link. Each has its own structure. */
export function objectInfo(fd: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  bpf('OBJ_GET_INFO_BY_FD', 'object', new Attributes(16).u32(0, fd).u32(4, length).pointer(8, bytes));
  return bytes;
}

export interface ProgramInfo {
  readonly id: number;
  readonly name: string;
  /** A hash of the instructions, without the maps. */
  readonly tag: string;
  /** The ids of the maps that the program uses. */
  readonly maps: readonly number[];
}

const PROGRAM_BYTES = 232;
const MAX_MAPS = 64;

export function programInfo(fd: number): ProgramInfo {
  const maps = Buffer.alloc(MAX_MAPS * 4);
  const bytes = Buffer.alloc(PROGRAM_BYTES);
  const attributes = new Attributes(16).u32(0, fd).u32(4, PROGRAM_BYTES).pointer(8, bytes);
  const request = new Attributes(PROGRAM_BYTES).u32(52, MAX_MAPS).pointer(56, maps);
  request.bytes.copy(bytes);
  bpf('OBJ_GET_INFO_BY_FD', 'program', attributes);
  const count = Math.min(MAX_MAPS, bytes.readUInt32LE(52));
  return {
    id: bytes.readUInt32LE(4),
    tag: bytes.subarray(8, 16).toString('hex'),
    name: textAt(bytes, 64),
    maps: Array.from({ length: count }, (_, i) => maps.readUInt32LE(i * 4)),
  };
}

export interface MapInfo {
  readonly id: number;
  readonly type: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
  readonly entries: number;
  readonly name: string;
}

export function mapInfo(fd: number): MapInfo {
  const bytes = objectInfo(fd, 88);
  const [type = 0, id = 0, keyBytes = 0, valueBytes = 0, entries = 0] = [0, 4, 8, 12, 16].map(at =>
    bytes.readUInt32LE(at),
  );
  return { id, type, keyBytes, valueBytes, entries, name: textAt(bytes, 24) };
}

/** Needs CAP_SYS_ADMIN. Returns a descriptor. */
export function programById(id: number): number {
  return bpf('PROG_GET_FD_BY_ID', `program ${id}`, new Attributes(12).u32(0, id));
}

/** Needs CAP_SYS_ADMIN. Returns a descriptor. */
export function mapById(id: number): number {
  return bpf('MAP_GET_FD_BY_ID', `map ${id}`, new Attributes(12).u32(0, id));
}

function textAt(bytes: Buffer, offset: number): string {
  return bytes.toString('latin1', offset, offset + 16).split('\0', 1)[0] ?? '';
}
