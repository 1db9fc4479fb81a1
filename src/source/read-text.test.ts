import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readText } from './read-text.ts';

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'read-text-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('FILES-7 text is read without its byte order mark', async t => {
  const path = join(temporaryFolder(t), 'a');
  writeFileSync(path, '\ufeffcafé');
  assert.deepEqual(await readText(path), { kind: 'text', text: 'café' });
});

test('FILES-7 a file that is gone has another result than a file that cannot be read', async t => {
  const folder = temporaryFolder(t);
  assert.deepEqual(await readText(join(folder, 'missing')), { kind: 'gone' });
  assert.deepEqual(await readText(folder), { kind: 'problem', message: 'is not a regular file: replace it with one' });
});

test('FILES-7 a pipe without a writer does not block the reader', async t => {
  const path = join(temporaryFolder(t), 'pipe');
  execFileSync('mkfifo', [path]);
  assert.deepEqual(await readText(path), { kind: 'problem', message: 'is not a regular file: replace it with one' });
});
