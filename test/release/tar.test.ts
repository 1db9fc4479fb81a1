import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readDeb, writeDeb } from '../../scripts/release/deb.mjs';
import { directory, file, readTar, symlink, withParents, writeTar } from '../../scripts/release/tar.mjs';

const LONG = `${'folder/'.repeat(18)}file-with-a-long-name`;
const ENTRIES = withParents([
  file('b/program', 'program', 0o755),
  file('a.txt', 'x'.repeat(1000)),
  file(LONG, 'long'),
  symlink('b/link', '../a.txt'),
  directory('tmp', 0o1777),
]);
const TIME = 1_700_000_000;

test('REL-14 tar lists what we write: sorted, of root, with one time', () => {
  const { stdout, status } = spawnSync('tar', ['--list', '--verbose', '--full-time', '--utc', '--file=-'], {
    input: writeTar(ENTRIES, TIME),
    encoding: 'utf8',
  });
  assert.equal(status, 0);
  const lines = stdout.trim().split('\n');
  assert.equal(lines.length, ENTRIES.length);
  for (const line of lines) assert.match(line, / root\/root +\d+ 2023-11-14 22:13:20 /);
  assert.match(lines[0] ?? '', /^-rw-r--r-- root\/root +1000 .* a\.txt$/);
  assert.match(stdout, /^lrwxrwxrwx .* b\/link -> \.\.\/a\.txt$/m);
  assert.match(stdout, /^-rwxr-xr-x .* b\/program$/m);
  assert.match(stdout, /^drwxrwxrwt .* tmp\/$/m);
  assert.ok(stdout.includes(LONG));
});

test('REL-14 we read what tar and we ourselves write, with long names and links', () => {
  assert.deepEqual(readTar(writeTar(ENTRIES, TIME, './')), ENTRIES);
  const folder = mkdtempSync(join(tmpdir(), 'tar-'));
  try {
    const name = `${'n'.repeat(150)}.txt`;
    mkdirSync(`${folder}/in`);
    writeFileSync(`${folder}/in/${name}`, 'content');
    symlinkSync('t'.repeat(120), `${folder}/in/link`);
    const { stdout } = spawnSync('tar', ['--create', '--format=gnu', '--sort=name', '--directory', folder, './in']);
    const [, link, long] = readTar(stdout);
    assert.deepEqual(link, { type: 'symlink', path: 'in/link', mode: 0o777, target: 't'.repeat(120) });
    assert.equal(long?.path, `in/${name}`);
    assert.equal(long?.type === 'file' && long.content.toString(), 'content');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('REL-14 a path or a target that tar cannot hold is an error', () => {
  assert.throws(() => writeTar([file('x'.repeat(300), '')], TIME), /too long/);
  assert.throws(() => writeTar([symlink('link', 'x'.repeat(101))], TIME), /too long/);
});

test('REL-14 a Debian package keeps its control file and its files', () => {
  const { control, files } = readDeb(writeDeb([file('control', 'Package: x\n')], ENTRIES, TIME));
  assert.equal(control, 'Package: x\n');
  assert.deepEqual(files, ENTRIES);
});
