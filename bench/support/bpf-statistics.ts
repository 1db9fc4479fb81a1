import { readFileSync } from 'node:fs';
import { CALL_NUMBERS } from '../../src/kernel/bpf/error.ts';
import {
  attachedPrograms,
  type Hook,
  mapById,
  mapInfo,
  programById,
  programInfo,
  struct,
  u8,
  u64,
} from '../../src/kernel/bpf/index.ts';
import { objectInfo } from '../../src/kernel/bpf/object-info.ts';
import { check, close, syscall } from '../../src/kernel/libc.ts';

/** `BPF_ENABLE_STATS`, with `BPF_STATS_RUN_TIME` as its attribute. */
const ENABLE_STATS = 32;
const RUN_TIME = Buffer.alloc(4);
/** The end of `struct bpf_prog_info`. */
const RunTimes = struct({ others: [u8, 192], ns: u64, runs: u64 });

/** Lets the kernel count and time the runs of all programs while the work runs. */
export async function withRunTimes<T>(work: () => Promise<T>): Promise<T> {
  const number = CALL_NUMBERS[process.arch] ?? -1;
  const fd = check(Number(syscall(number, ENABLE_STATS, RUN_TIME, RUN_TIME.length, 0, 0)), 'bpf ENABLE_STATS');
  try {
    return await work();
  } finally {
    close(fd);
  }
}

/** How often the program of a hook ran, and for how long altogether. */
export interface Runs {
  readonly count: number;
  readonly ns: number;
}

export function runsOf(group: number, hook: Hook): Runs {
  return withProgram(group, hook, fd => {
    const info = objectInfo(fd, RunTimes);
    return { count: info.number('runs'), ns: info.number('ns') };
  });
}

/** The bytes that each map of a hook's program takes in the kernel, by the name of the map. */
export function mapMemory(group: number, hooks: readonly Hook[]): ReadonlyMap<string, number> {
  const ids = new Set(hooks.flatMap(hook => withProgram(group, hook, fd => programInfo(fd).maps)));
  return new Map([...ids].map(memoryOf));
}

function memoryOf(id: number): [name: string, bytes: number] {
  const fd = mapById(id);
  try {
    const [, bytes] = /^memlock:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? [];
    return [mapInfo(fd).name, Number(bytes)];
  } finally {
    close(fd);
  }
}

function withProgram<T>(group: number, hook: Hook, work: (fd: number) => T): T {
  const [id, ...others] = attachedPrograms(group, hook);
  if (id === undefined || others.length > 0) {
    throw new Error(`${others.length + (id === undefined ? 0 : 1)} programs are attached to ${hook}, and not one`);
  }
  const fd = programById(id);
  try {
    return work(fd);
  } finally {
    close(fd);
  }
}
