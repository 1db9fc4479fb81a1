import { readSync } from 'node:fs';
import { close } from '../libc.ts';
import type { BpfMap } from './map.ts';
import { type BpfProgram, HOOKS } from './program.ts';
import { Attributes, bpf } from './system-call.ts';

/** More than the kernel gives in one read, so that a record never spans two reads. */
const READ_BYTES = 1 << 16;

/**
 * Runs a program of the hook `iterator` for every element of a map. Yields what the program writes: whole records, some
 * tens of kilobytes at a time. The caller may take a break between two parts. Needs CAP_PERFMON.
 */
export function* iterate(program: BpfProgram, map: BpfMap): Generator<Buffer, void> {
  const link = bpf('LINK_CREATE', `iterator over ${map.spec.name}`, linkAttributes(program.fd, map.fd));
  try {
    const fd = bpf('ITER_CREATE', `iterator over ${map.spec.name}`, new Attributes(8).u32(0, link));
    try {
      yield* readAll(fd);
    } finally {
      close(fd);
    }
  } finally {
    close(link);
  }
}

function linkAttributes(program: number, map: number): Attributes {
  // union bpf_iter_link_info
  const target = new Attributes(16).u32(0, map).bytes;
  return new Attributes(48).u32(0, program).u32(8, HOOKS.iterator.attach).pointer(16, target).u32(24, target.length);
}

function* readAll(fd: number): Generator<Buffer, void> {
  for (;;) {
    const bytes = Buffer.alloc(READ_BYTES);
    const count = readSome(fd, bytes);
    if (count === 0) return;
    if (count > 0) yield bytes.subarray(0, count);
  }
}

/** Returns -1 if the kernel wants to be asked again: it does after a million elements without a record. */
function readSome(fd: number, bytes: Buffer): number {
  try {
    return readSync(fd, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return -1;
    throw error;
  }
}
