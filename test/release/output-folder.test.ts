import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { emptyFolder, writeChecksums } from '../../scripts/release/output-folder.mjs';

test('a release removes and sums up only its own files in a folder that the operator names', t => {
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const artefacts = ['kube-proxy-0.0.9.cdx.json', 'pointsman-0.0.9.tgz', 'pointsman_0.0.9_amd64.deb'];
  for (const name of [...artefacts, 'SHA256SUMS', 'thesis.txt']) writeFileSync(join(folder, name), name);
  mkdirSync(join(folder, 'pointsman-source'));
  emptyFolder(folder);
  assert.deepEqual(readdirSync(folder).sort(), ['pointsman-source', 'thesis.txt']);
  writeFileSync(join(folder, 'pointsman-0.1.0.tgz'), 'new');
  writeChecksums(folder);
  assert.match(readFileSync(join(folder, 'SHA256SUMS'), 'utf8'), /^[0-9a-f]{64} {2}pointsman-0\.1\.0\.tgz\n$/);
});

test('a release makes its folder', t => {
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  emptyFolder(join(folder, 'a/b'));
  assert.deepEqual(readdirSync(join(folder, 'a/b')), []);
});
