import { readdirSync, readFileSync } from 'node:fs';
import type { Violation } from './violation.ts';

/** What a process of the proxy uses. */
export interface Usage {
  readonly residentMB: number;
  readonly descriptors: number;
}

/** A proxy with this few Services needs half of it. */
export const MAX_RESIDENT_MB = 220;

/** Undefined if the process has ended. */
export function usageOf(pid: number): Usage | undefined {
  try {
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return { residentMB: Number(kilobytes) / 1024, descriptors: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return undefined;
  }
}

export function judgeUsage({ residentMB, descriptors }: Usage, maxDescriptors: number): readonly Violation[] {
  const violations: Violation[] = [];
  if (residentMB > MAX_RESIDENT_MB) {
    violations.push({
      invariant: 'memory is bounded',
      facts: `${Math.round(residentMB)} MB, at most ${MAX_RESIDENT_MB}`,
    });
  }
  if (descriptors > maxDescriptors) {
    violations.push({ invariant: 'descriptors are bounded', facts: `${descriptors}, at most ${maxDescriptors}` });
  }
  return violations;
}
