export { type Assembled, AssemblyError, assemble } from './assemble.ts';
export { attachedPrograms } from './attached-programs.ts';
export { BPFFS, isBpffs, openPin, pin } from './bpffs.ts';
export type { BtfReader, MemberPlace } from './btf-reader.ts';
export { type ControlGroup, nodeControlGroup, openControlGroup } from './cgroup.ts';
export {
  addAtomic,
  alu,
  alu32,
  call,
  exit,
  go,
  type Instruction,
  label,
  load,
  note,
  type Part,
  set,
  setMap,
  setWide,
  store,
  when,
} from './instruction.ts';
export { iterate } from './iterator.ts';
export { readKernelTypes } from './kernel-types.ts';
export { BpfLink, type LinkInfo } from './link.ts';
export { BpfMap, type Entries } from './map.ts';
export type { MapSpec, MapType } from './map-spec.ts';
export { MappedArray } from './mapped-array.ts';
export { type MapInfo, mapById, mapInfo, type ProgramInfo, programById, programInfo } from './object-info.ts';
export { OwnControlGroup } from './own-control-group.ts';
export { closeObject, PinFolder } from './pin-folder.ts';
export { at, nth, type Place, type Register, r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10 } from './place.ts';
export { BpfProgram, HOOKS, type Hook, type ProgramSpec } from './program.ts';
export { clear, frame, type Local, lookup, returns, setAddress, update } from './stack.ts';
export { bytesOf, type Field, item, type Size, type Struct, struct, u8, u16, u32, u64 } from './struct.ts';
