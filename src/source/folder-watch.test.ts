import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FolderWatch } from './folder-watch.ts';

function setUp(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'watch-'));
  const changes: string[] = [];
  const failures: string[] = [];
  const watch = new FolderWatch({
    changed: (_, name) => changes.push(`${name}`),
    failed: (path, message) => failures.push(`${path} ${message}`),
  });
  t.after(() => {
    watch.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { folder, changes, failures, watch };
}

function soon(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, 30));
}

async function untilReported(changes: readonly string[], name: string): Promise<void> {
  for (let i = 0; i < 100 && !changes.includes(name); i++) await soon();
  assert.ok(changes.includes(name));
}

test('FILES-5 a change in a watched folder is reported until the folder is no longer wanted', async t => {
  const { folder, changes, watch } = setUp(t);
  assert.equal(watch.update([{ path: folder, id: '1' }]), true);
  assert.equal(watch.update([{ path: folder, id: '1' }]), false);
  writeFileSync(join(folder, 'a'), '');
  await untilReported(changes, 'a');
  watch.update([]);
  changes.length = 0;
  writeFileSync(join(folder, 'b'), '');
  await soon();
  assert.deepEqual(changes, []);
});

test('FILES-5 a folder that replaces another of the same name gets its own watch', async t => {
  const { folder, changes, watch } = setUp(t);
  const path = join(folder, 'x');
  mkdirSync(path);
  watch.update([{ path, id: '1' }]);
  rmSync(path, { recursive: true });
  mkdirSync(path);
  assert.equal(watch.update([{ path, id: '2' }]), true);
  await soon();
  changes.length = 0;
  writeFileSync(join(path, 'a'), '');
  await untilReported(changes, 'a');
});

test('FILES-5 a folder that cannot be watched is reported once, a missing folder is not reported', t => {
  const { folder, failures, watch } = setUp(t);
  const folders = [
    { path: '/a\0b', id: '1' },
    { path: join(folder, 'missing'), id: '2' },
  ];
  assert.equal(watch.update(folders), false);
  assert.equal(watch.update(folders), false);
  assert.deepEqual(failures, ['/a\0b cannot be watched (ERR_INVALID_ARG_VALUE)']);
});
