import { readFileSync } from 'node:fs';

/** The memory of this process, in bytes. */
export interface Memory {
  readonly resident: number;
  readonly heap: number;
  /** Outside of the heap: buffers, and memory of other objects. */
  readonly external: number;
  readonly buffers: number;
}

/** The memory in use after a garbage collection. */
export function memory(): Memory {
  const heap = heapUsed();
  const { rss, external, arrayBuffers } = process.memoryUsage();
  return { resident: rss, heap, external, buffers: arrayBuffers };
}

/** The largest resident memory so far. */
export function peakResident(): number {
  const [, kibibytes] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}

/** The used heap after a garbage collection. */
export function heapUsed(): number {
  const collect = globalThis.gc;
  if (!collect) throw new Error('run Node with --expose-gc');
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** Moves new objects out of the young generation, so that collecting them does not count in the next measurement. */
export function collectYoung(): void {
  for (let i = 0; i < 2; i++) globalThis.gc?.({ type: 'minor' });
}
