import { readFileSync } from 'node:fs';
import { madvise, mallocTrim } from './libc.ts';

const MADV_DONTNEED = 4;
/** The first line of a mapping in /proc/self/smaps. It maps a file, and nobody may write to it. */
const READ_ONLY_FILE = /^([0-9a-f]+)-([0-9a-f]+) r-[x-]p \S+ \S+ \d+ +\//;

interface Mapping {
  readonly start: bigint;
  readonly end: bigint;
}

/**
 * Returns memory to the kernel that the process does not use: free memory of the C library, and pages of programs and
 * libraries. The kernel maps such a page again when the process next needs it, without reading it from the disk if it
 * still has the page.
 */
export function releaseMemory(): void {
  mallocTrim(0);
  for (const { start, end } of unchangedFileMappings(readFileSync('/proc/self/smaps', 'utf8'))) {
    madvise(start, end - start, MADV_DONTNEED);
  }
}

/**
 * The mappings of files that have only the pages of their files. Others have pages that the dynamic linker has changed,
 * and those would be lost.
 */
export function unchangedFileMappings(smaps: string): readonly Mapping[] {
  return smaps.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m).flatMap(text => {
    const [, start, end] = READ_ONLY_FILE.exec(text) ?? [];
    if (start === undefined || end === undefined || !/^Anonymous: +0 kB$/m.test(text)) return [];
    return [{ start: BigInt(`0x${start}`), end: BigInt(`0x${end}`) }];
  });
}
