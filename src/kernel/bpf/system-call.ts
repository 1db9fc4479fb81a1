import { errnoName, lastErrno, syscall } from '../libc.ts';
import * as layout from './attributes.ts';
import { bpfError, CALL_NUMBERS } from './error.ts';
import { type FieldValues, StructBytes } from './struct-bytes.ts';

/** Commands by their numbers in `linux/bpf.h`, with what they take. */
const COMMANDS = {
  MAP_CREATE: [0, layout.MapCreate],
  MAP_LOOKUP_ELEM: [1, layout.MapElement],
  MAP_UPDATE_ELEM: [2, layout.MapElement],
  MAP_DELETE_ELEM: [3, layout.MapElement],
  PROG_LOAD: [5, layout.ProgramLoad],
  OBJ_PIN: [6, layout.ObjectPath],
  OBJ_GET: [7, layout.ObjectPath],
  PROG_GET_FD_BY_ID: [13, layout.ObjectId],
  MAP_GET_FD_BY_ID: [14, layout.ObjectId],
  OBJ_GET_INFO_BY_FD: [15, layout.ObjectInfo],
  PROG_QUERY: [16, layout.ProgramQuery],
  BTF_LOAD: [18, layout.BtfLoad],
  MAP_LOOKUP_BATCH: [24, layout.MapBatch],
  MAP_UPDATE_BATCH: [26, layout.MapBatch],
  MAP_DELETE_BATCH: [27, layout.MapBatch],
  LINK_CREATE: [28, layout.LinkCreate],
  LINK_UPDATE: [29, layout.LinkUpdate],
  ITER_CREATE: [33, layout.IteratorCreate],
  LINK_DETACH: [34, layout.LinkDetach],
} as const;

export type Command = keyof typeof COMMANDS;
type FieldOf<C extends Command> = Extract<keyof (typeof COMMANDS)[C][1], string>;

/** What the kernel answers. */
export interface Answer<Name extends string> {
  /** A descriptor, or 0. Meaningless after an error. */
  readonly result: number;
  readonly errno: string | undefined;
  /** The attributes, of which the kernel writes some. */
  readonly attributes: StructBytes<Name>;
}

/** Returns what the kernel returns: a descriptor, or 0. Throws a KernelError. */
export function bpf<C extends Command>(command: C, what: string, values: FieldValues<FieldOf<C>>): number {
  const { result, errno } = callBpf(command, values);
  if (errno !== undefined) throw bpfError(command, what, errno);
  return result;
}

/** As `bpf`, for callers that expect some errors. */
export function callBpf<C extends Command>(command: C, values: FieldValues<FieldOf<C>>): Answer<FieldOf<C>> {
  const [code, type] = COMMANDS[command];
  const attributes = new StructBytes<FieldOf<C>>(type as never, values);
  const call = CALL_NUMBERS[process.arch];
  if (call === undefined) return { result: -1, errno: 'ENOSYS', attributes };
  const result = Number(syscall(call, code, attributes.bytes, attributes.bytes.length, 0, 0));
  return { result, errno: result < 0 ? errnoName(lastErrno()) : undefined, attributes };
}
