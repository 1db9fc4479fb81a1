import { readFileSync } from 'node:fs';
import { heapUsed } from './report.ts';

/** Of this process, in bytes. */
export interface Memory {
  readonly resident: number;
  readonly heap: number;
  /** Outside the heap: buffers, and what belongs to other objects. */
  readonly external: number;
  readonly buffers: number;
}

/** What is in use, with garbage taken away. */
export function memory(): Memory {
  const heap = heapUsed();
  const { rss, external, arrayBuffers } = process.memoryUsage();
  return { resident: rss, heap, external, buffers: arrayBuffers };
}

/** The most that was resident at once so far. */
export function peakResident(): number {
  const [, kibibytes] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}
