import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { KubeObject } from '../api/index.ts';
import { systemClock } from '../lib/clock.ts';
import { GuardedHandlers } from './guarded-handlers.ts';
import { listManifestFiles, type ManifestListing } from './list-manifest-files.ts';
import { type ManifestChange, ManifestCollection } from './manifest-collection.ts';
import { ManifestFiles } from './manifest-files.ts';

function node(podCIDR: string): string {
  return `apiVersion: v1\nkind: Node\nmetadata: {name: a}\nspec: {podCIDR: ${podCIDR}}\n`;
}

const NOTHING: ManifestListing = { files: [], folders: [], unlisted: [], outdated: false };

/** A folder whose file a.yaml was read. */
async function setUp(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'manifest-files-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const problems: string[] = [];
  const none = () => {};
  const handlers = new GuardedHandlers({
    serviceChanged: none,
    endpointSliceChanged: none,
    nodeChanged: none,
    serviceCidrChanged: none,
    synced: none,
    problem: problem => problems.push(`${problem.where} ${problem.message}`),
  });
  const collection = new ManifestCollection();
  const files = new ManifestFiles(collection, handlers, systemClock);
  /** Whether another listing is needed, and what changed with this one. */
  const update = async (listing?: ManifestListing) => {
    const isAnotherNeeded = await files.update(listing ?? (await listManifestFiles(folder)));
    const { changes, duplicates } = collection.takeChanges(() => true);
    return { isAnotherNeeded, changes: changes.map(changeText), duplicates: duplicates.length };
  };
  const path = join(folder, 'a.yaml');
  writeFileSync(path, node('10.1.0.0/24'));
  assert.deepEqual(await update(), { isAnotherNeeded: false, changes: ['- -> 10.1.0.0/24'], duplicates: 0 });
  return { folder, path, update, problems };
}

function changeText({ change }: ManifestChange): string {
  const from = change.type === 'added' ? undefined : change.from;
  const to = change.type === 'removed' ? undefined : change.to;
  return `${podCidr(from)} -> ${podCidr(to)}`;
}

function podCidr(object: KubeObject | undefined): string {
  return object?.kind === 'Node' ? String(object.podCIDRs) : '-';
}

test('FILES-5 the objects of a deleted file go when a second listing confirms the deletion', async t => {
  const { path, update } = await setUp(t);
  rmSync(path);
  assert.deepEqual(await update(), { isAnotherNeeded: true, changes: [], duplicates: 0 });
  assert.deepEqual(await update(), { isAnotherNeeded: false, changes: ['10.1.0.0/24 -> -'], duplicates: 0 });
});

test('FILES-5 a file that is deleted and then written again is an update', async t => {
  const { path, update } = await setUp(t);
  rmSync(path);
  await update();
  writeFileSync(path, node('10.2.0.0/24'));
  assert.deepEqual(await update(), { isAnotherNeeded: false, changes: ['10.1.0.0/24 -> 10.2.0.0/24'], duplicates: 0 });
});

test('FILES-5 a file that came back must be missing in two listings again before its objects go', async t => {
  const { folder, path, update } = await setUp(t);
  renameSync(path, join(folder, '.away'));
  await update();
  renameSync(join(folder, '.away'), path);
  assert.deepEqual(await update(), { isAnotherNeeded: false, changes: [], duplicates: 0 });
  rmSync(path);
  assert.deepEqual(await update(), { isAnotherNeeded: true, changes: [], duplicates: 0 });
});

test('FILES-4 a renamed file is neither a change nor a duplicate', async t => {
  const { folder, path, update } = await setUp(t);
  renameSync(path, join(folder, 'z.yaml'));
  assert.deepEqual(await update(), { isAnotherNeeded: true, changes: [], duplicates: 0 });
  assert.deepEqual(await update(), { isAnotherNeeded: false, changes: [], duplicates: 0 });
});

test('FILES-5 a listing during which something vanished confirms no deletion', async t => {
  const { update } = await setUp(t);
  for (let i = 0; i < 3; i++) {
    assert.deepEqual(await update({ ...NOTHING, outdated: true }), {
      isAnotherNeeded: true,
      changes: [],
      duplicates: 0,
    });
  }
});

test('FILES-3 the objects of a folder that cannot be listed stay', async t => {
  const { folder, update, problems } = await setUp(t);
  const unlisted = [{ path: folder, message: 'cannot be read (EIO)' }];
  for (let i = 0; i < 3; i++) {
    assert.deepEqual(await update({ ...NOTHING, unlisted }), { isAnotherNeeded: false, changes: [], duplicates: 0 });
  }
  assert.deepEqual(problems, [`${folder} cannot be read (EIO)`]);
});

test('FILES-5 if a file vanishes after it was listed, another listing is needed', async t => {
  const { path, folder, update } = await setUp(t);
  writeFileSync(path, node('10.2.0.0/24'));
  const listing = await listManifestFiles(folder);
  rmSync(path);
  assert.deepEqual(await update(listing), { isAnotherNeeded: true, changes: [], duplicates: 0 });
});

test('FILES-5 a file that was new when it was read is read again, because its times may not show the next change', async t => {
  const { path, folder, update } = await setUp(t);
  const listing = await listManifestFiles(folder);
  writeFileSync(path, node('10.2.0.0/24'));
  assert.deepEqual((await update(listing)).changes, ['10.1.0.0/24 -> 10.2.0.0/24']);
});

test('FILES-5 an old file with the same size and times is not read again', async t => {
  const { path, folder, update } = await setUp(t);
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(path, hourAgo, hourAgo);
  const listing = await listManifestFiles(folder);
  await update(listing);
  writeFileSync(path, node('10.2.0.0/24'));
  assert.deepEqual((await update(listing)).changes, []);
});
