import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { releaseMemory, unchangedFileMappings } from './release-memory.ts';

function residentPagesOfFiles(): number {
  const [, kibibytes] = /^RssFile:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kibibytes);
}

test('START-10 the process releases pages of files, and goes on', () => {
  const before = residentPagesOfFiles();
  releaseMemory();
  const after = residentPagesOfFiles();
  assert.ok(after < 0.75 * before, `${before} KiB before, ${after} KiB after`);
  assert.equal(new Intl.NumberFormat('de').format(1234.5), '1.234,5');
});

test('START-10 the process keeps pages that are writable, changed or of no file', () => {
  const mapping = (first: string, anonymous: number) =>
    `${first}\nRss:  8 kB\nAnonymous:  ${anonymous} kB\nLocked:  0 kB\n`;
  const smaps = [
    mapping('00400000-00b6f000 r--p 00000000 fe:00 247580      /usr/bin/node', 0),
    mapping('00b72000-025fe000 r-xp 00772000 fe:00 247580      /usr/bin/node', 0),
    mapping('0563a000-0563e000 r--p 05239000 fe:00 247580      /usr/bin/node', 16),
    mapping('0563e000-0565d000 rw-p 0523d000 fe:00 247580      /usr/bin/node', 0),
    mapping('7f0000000000-7f0000001000 r--p 00000000 00:00 0', 0),
    mapping('7f0000001000-7f0000002000 r-xs 00000000 00:0e 1057      /dev/shared', 0),
    mapping('7ffd0afd3000-7ffd0afd5000 r-xp 00000000 00:00 0      [vdso]', 0),
  ].join('');
  assert.deepEqual(unchangedFileMappings(smaps), [
    { start: 0x400000n, end: 0xb6f000n },
    { start: 0xb72000n, end: 0x25fe000n },
  ]);
});
