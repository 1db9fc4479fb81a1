import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { releaseFolder } from './release-files.ts';

test('REL-1 a release has all its files, and their checksums are right', () => {
  const folder = releaseFolder();
  const sums = readFileSync(`${folder}/SHA256SUMS`, 'utf8').trim().split('\n');
  const names = sums.map(line => line.split('  ')[1] ?? '');
  assert.deepEqual([...names, 'SHA256SUMS'].sort(), readdirSync(folder).sort());
  for (const line of sums) {
    const [sum, name = ''] = line.split('  ');
    assert.equal(
      createHash('sha256')
        .update(readFileSync(`${folder}/${name}`))
        .digest('hex'),
      sum,
      name,
    );
  }
  const version = JSON.parse(readFileSync('package.json', 'utf8')).version;
  const kinds = names.map(name => name.replace(version, 'VERSION'));
  for (const kind of [
    ...['pointsman-VERSION.oci.tar', 'pointsman-VERSION.cdx.json', 'pointsman-VERSION.tgz'],
    'pointsman-chart-VERSION.tgz',
    ...['pointsman-slim-VERSION.oci.tar', 'pointsman-slim-VERSION.cdx.json'],
    ...['kube-proxy-VERSION-linux-amd64.gz', 'kube-proxy-VERSION-linux-arm64.gz', 'kube-proxy-VERSION.cdx.json'],
    ...['pointsman_VERSION_amd64.deb', 'pointsman_VERSION_arm64.deb'],
  ]) {
    assert.ok(kinds.includes(kind), kind);
  }
});

test('REL-2 the same commit gives the same bytes again', () => {
  const again = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/release.mjs', '--output', again], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    const sums = (folder: string) => readFileSync(`${folder}/SHA256SUMS`, 'utf8');
    assert.equal(sums(again), sums(releaseFolder()));
  } finally {
    rmSync(again, { recursive: true, force: true });
  }
});
