import { close } from '../libc.ts';
import { bpfError } from './error.ts';
import { programById, programInfo, readIds } from './object-info.ts';
import { HOOKS, type Hook } from './program.ts';
import { callBpf } from './system-call.ts';

/** `BPF_F_ALLOW_MULTI`: other programs may be attached beside these. */
const ALLOW_MULTI = 2;
/** `BPF_F_QUERY_EFFECTIVE`: also the programs of the control groups above. */
const EFFECTIVE = 1;
/** The kernel takes no more for a control group. */
const MAX_PROGRAMS = 64;

/** The ids of the programs that are attached to a control group, given by a descriptor of its directory. */
export function attachedPrograms(cgroup: number, hook: Hook): readonly number[] {
  const { programs, errno } = query(cgroup, hook, 0);
  if (errno !== undefined) throw bpfError('PROG_QUERY', hook, errno);
  return programs;
}

/** A program that does not let others be attached, here or below. */
export interface LoneProgram {
  readonly id: number;
  /** Undefined without CAP_SYS_ADMIN. */
  readonly name: string | undefined;
}

/**
 * The program that does not let another one be attached to a control group. It is attached to the group itself or to one
 * above. Undefined if there is none, or if the kernel does not answer.
 */
export function loneProgram(cgroup: number, hook: Hook): LoneProgram | undefined {
  const own = query(cgroup, hook, 0);
  if ((own.attachFlags & ALLOW_MULTI) !== 0) return undefined;
  const [id] = own.programs.length > 0 ? own.programs : query(cgroup, hook, EFFECTIVE).programs;
  return id === undefined ? undefined : { id, name: nameOf(id) };
}

interface QueryAnswer {
  readonly programs: readonly number[];
  readonly attachFlags: number;
  readonly errno: string | undefined;
}

function query(cgroup: number, hook: Hook, queryFlags: number): QueryAnswer {
  const programs = Buffer.alloc(MAX_PROGRAMS * 4);
  const attachType = HOOKS[hook].attach;
  const values = { target: cgroup, attachType, queryFlags, programs, count: MAX_PROGRAMS };
  const { errno, attributes } = callBpf('PROG_QUERY', values);
  if (errno !== undefined) return { programs: [], attachFlags: 0, errno };
  return {
    programs: readIds(programs, attributes.number('count')),
    attachFlags: attributes.number('attachFlags'),
    errno,
  };
}

function nameOf(id: number): string | undefined {
  try {
    const fd = programById(id);
    try {
      return programInfo(fd).name;
    } finally {
      close(fd);
    }
  } catch {
    return undefined;
  }
}
