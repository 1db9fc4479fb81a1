import { readSync } from 'node:fs';
import { close } from '../libc.ts';
import { IteratorTarget } from './attributes.ts';
import type { BpfMap } from './map.ts';
import { type BpfProgram, HOOKS } from './program.ts';
import { StructBytes } from './struct-bytes.ts';
import { bpf } from './system-call.ts';

/** More than the kernel gives in one read, so that a record never spans two reads. */
const READ_BYTES = 1 << 16;

/**
 * Runs a program of the hook `iterator` for every element of a map. Yields what the program writes: whole records, some
 * tens of kilobytes at a time. The caller may take a break between two parts. Needs CAP_PERFMON.
 */
export function* iterate(program: BpfProgram, map: BpfMap): Generator<Buffer, void> {
  const what = `iterator over ${map.spec.name}`;
  const target = new StructBytes(IteratorTarget, { map: map.fd }).bytes;
  const link = bpf('LINK_CREATE', what, {
    program: program.fd,
    attachType: HOOKS.iterator.attach,
    iterator: target,
    iteratorSize: target.length,
  });
  try {
    const fd = bpf('ITER_CREATE', what, { link });
    try {
      yield* readAll(fd);
    } finally {
      close(fd);
    }
  } finally {
    close(link);
  }
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
