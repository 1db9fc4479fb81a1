import { struct, u8, u32, u64 } from './struct.ts';

/**
 * `union bpf_attr` of `linux/bpf.h`: what each command takes. Fields at the end that nothing here uses are left out,
 * because the kernel takes them as zero.
 */

const NAME = [u8, 16] as const;

export const MapCreate = struct({
  type: u32,
  keySize: u32,
  valueSize: u32,
  maxEntries: u32,
  flags: u32,
  innerMap: u32,
  numaNode: u32,
  name: NAME,
  interfaceIndex: u32,
  btf: u32,
  keyType: u32,
  valueType: u32,
});

export const MapElement = struct({ map: u32, key: u64, value: u64, flags: u64 });

export const MapBatch = struct({
  position: u64,
  nextPosition: u64,
  keys: u64,
  values: u64,
  count: u32,
  map: u32,
  elementFlags: u64,
  flags: u64,
});

export const ProgramLoad = struct({
  type: u32,
  instructionCount: u32,
  instructions: u64,
  license: u64,
  logLevel: u32,
  logSize: u32,
  log: u64,
  kernelVersion: u32,
  flags: u32,
  name: NAME,
  interfaceIndex: u32,
  attachType: u32,
  btf: u32,
  functionSize: u32,
  functions: u64,
  functionCount: u32,
  lineSize: u32,
  lines: u64,
  lineCount: u32,
  attachBtfId: u32,
});

export const BtfLoad = struct({ data: u64, log: u64, dataSize: u32, logSize: u32, logLevel: u32 });

/** For OBJ_PIN and OBJ_GET. */
export const ObjectPath = struct({ path: u64, fd: u32, flags: u32 });

export const ObjectInfo = struct({ fd: u32, infoSize: u32, info: u64 });

/** For the commands that open an object by its id. */
export const ObjectId = struct({ id: u32, nextId: u32, flags: u32 });

export const ProgramQuery = struct({
  target: u32,
  attachType: u32,
  queryFlags: u32,
  attachFlags: u32,
  programs: u64,
  count: u32,
});

export const LinkCreate = struct({
  program: u32,
  target: u32,
  attachType: u32,
  flags: u32,
  iterator: u64,
  iteratorSize: u32,
});

export const LinkUpdate = struct({ link: u32, program: u32, flags: u32, oldProgram: u32 });
export const LinkDetach = struct({ link: u32 });
export const IteratorCreate = struct({ link: u32, flags: u32 });

/** `struct bpf_iter_link_info`: over what an iterator goes. */
export const IteratorTarget = struct({ map: u32 });
