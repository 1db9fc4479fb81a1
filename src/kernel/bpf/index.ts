export { type Assembled, assemble } from './assemble.ts';
export { BPFFS, isBpffs, openPin, pin } from './bpffs.ts';
export { type ControlGroup, nodeControlGroup } from './cgroup.ts';
export {
  addAtomic,
  addressOf,
  alu,
  alu32,
  at,
  call,
  clear,
  exit,
  frame,
  go,
  type Instruction,
  type Local,
  label,
  load,
  lookup,
  note,
  nth,
  type Part,
  type Place,
  type Register,
  r0,
  r1,
  r2,
  r3,
  r4,
  r5,
  r6,
  r7,
  r8,
  r9,
  r10,
  returns,
  set,
  setMap,
  setWide,
  store,
  update,
  when,
} from './instruction.ts';
export { iterate } from './iterator.ts';
export { KernelTypes, type MemberPlace } from './kernel-types.ts';
export { attachedPrograms, BpfLink, type LinkInfo } from './link.ts';
export { BpfMap, type MapSpec, type MapType } from './map.ts';
export { MappedArray } from './mapped-array.ts';
export { type MapInfo, mapById, mapInfo, type ProgramInfo, programById, programInfo } from './object-info.ts';
export { BpfProgram, HOOKS, type Hook, type ProgramSpec } from './program.ts';
export { bytesOf, type Field, item, type Size, type Struct, struct, u8, u16, u32, u64 } from './struct.ts';
