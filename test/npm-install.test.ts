import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { failureText } from '../scripts/npm-ci.mjs';

test('without a network, npm start says so in a few lines and ends with status 1', () => {
  const folder = mkdtempSync(join(tmpdir(), 'npm-'));
  try {
    for (const name of ['scripts', 'package.json', 'package-lock.json', 'src/main.ts']) {
      cpSync(name, join(folder, name), { recursive: true });
    }
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/start.mjs'], {
      cwd: folder,
      encoding: 'utf8',
      // Nothing listens at port 1, and the cache is empty.
      env: { ...process.env, npm_config_registry: 'http://127.0.0.1:1', npm_config_cache: join(folder, 'cache') },
      timeout: 60_000,
    });
    assert.deepEqual([status, stdout], [1, ''], stderr);
    const lines = stderr.trimEnd().split('\n');
    assert.match(lines[0] ?? '', /^Installing npm packages into node_modules/);
    const explanation = lines.filter(line => !/^(?:Installing|npm: )/.test(line));
    assert.match(explanation[0] ?? '', /^npm cannot reach its registry \(ECONNREFUSED\)/);
    assert.equal(explanation.length, 2, stderr);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('another failure of npm is shown in at most ten lines, without the hint to a log file', () => {
  const errors = [
    'code EUSAGE',
    '',
    ...Array.from({ length: 20 }, (_, i) => `line ${i}`),
    'A complete log of this run',
  ];
  const lines = failureText(errors).split('\n');
  assert.deepEqual(lines.slice(0, 3), ['npm could not install the packages:', '  code EUSAGE', '  line 0']);
  assert.equal(lines.length, 10);
  assert.ok(!lines.some(line => line.includes('A complete log')));
});
