import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { KubeObject } from '../api/index.ts';
import { systemClock } from '../lib/clock.ts';
import { Collection, type ManifestChange } from './collection.ts';
import { ManifestFiles } from './manifest-files.ts';
import { Receiver } from './receiver.ts';
import { type Scan, scanManifests } from './scan.ts';

function node(podCIDR: string): string {
  return `apiVersion: v1\nkind: Node\nmetadata: {name: a}\nspec: {podCIDR: ${podCIDR}}\n`;
}

const NOTHING: Scan = { files: [], folders: [], unlisted: [], outdated: false };

/** A folder with the file a.yaml, which was read. */
async function setUp(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'manifest-files-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const problems: string[] = [];
  const none = () => {};
  const receiver = new Receiver({
    service: none,
    endpointSlice: none,
    node: none,
    serviceCidr: none,
    synced: none,
    problem: problem => problems.push(`${problem.where} ${problem.message}`),
  });
  const collection = new Collection();
  const files = new ManifestFiles(collection, receiver, systemClock);
  /** Whether another look is wanted, and what changed by this one. */
  const look = async (scan?: Scan) => {
    const again = await files.refresh(scan ?? (await scanManifests(folder)));
    const { changes, contests } = collection.takeChanges(() => true);
    return { again, changes: changes.map(changeText), contests: contests.length };
  };
  const path = join(folder, 'a.yaml');
  writeFileSync(path, node('10.1.0.0/24'));
  assert.deepEqual(await look(), { again: false, changes: ['- -> 10.1.0.0/24'], contests: 0 });
  return { folder, path, look, problems };
}

function changeText({ change }: ManifestChange): string {
  const from = change.type === 'added' ? undefined : change.from;
  const to = change.type === 'removed' ? undefined : change.to;
  return `${podCidr(from)} -> ${podCidr(to)}`;
}

function podCidr(object: KubeObject | undefined): string {
  return object?.kind === 'Node' ? String(object.podCIDRs) : '-';
}

test('FILES-5 a deleted file takes its objects along when a second look confirms it', async t => {
  const { path, look } = await setUp(t);
  rmSync(path);
  assert.deepEqual(await look(), { again: true, changes: [], contests: 0 });
  assert.deepEqual(await look(), { again: false, changes: ['10.1.0.0/24 -> -'], contests: 0 });
});

test('FILES-5 a file that is deleted and then written anew is an update', async t => {
  const { path, look } = await setUp(t);
  rmSync(path);
  await look();
  writeFileSync(path, node('10.2.0.0/24'));
  assert.deepEqual(await look(), { again: false, changes: ['10.1.0.0/24 -> 10.2.0.0/24'], contests: 0 });
});

test('FILES-5 a file that is back unchanged starts to be missed from anew', async t => {
  const { folder, path, look } = await setUp(t);
  renameSync(path, join(folder, '.away'));
  await look();
  renameSync(join(folder, '.away'), path);
  assert.deepEqual(await look(), { again: false, changes: [], contests: 0 });
  rmSync(path);
  assert.deepEqual(await look(), { again: true, changes: [], contests: 0 });
});

test('FILES-4 a renamed file is neither a change nor a case of two files', async t => {
  const { folder, path, look } = await setUp(t);
  renameSync(path, join(folder, 'z.yaml'));
  assert.deepEqual(await look(), { again: true, changes: [], contests: 0 });
  assert.deepEqual(await look(), { again: false, changes: [], contests: 0 });
});

test('FILES-5 a look during which something went away confirms nothing', async t => {
  const { look } = await setUp(t);
  for (let i = 0; i < 3; i++) {
    assert.deepEqual(await look({ ...NOTHING, outdated: true }), { again: true, changes: [], contests: 0 });
  }
});

test('FILES-3 the files of a folder that cannot be listed stay', async t => {
  const { folder, look, problems } = await setUp(t);
  const unlisted = [{ path: folder, message: 'cannot be read (EIO)' }];
  for (let i = 0; i < 3; i++) {
    assert.deepEqual(await look({ ...NOTHING, unlisted }), { again: false, changes: [], contests: 0 });
  }
  assert.deepEqual(problems, [`${folder} cannot be read (EIO)`]);
});

test('FILES-5 a file that goes away between listing and reading asks for another look', async t => {
  const { path, folder, look } = await setUp(t);
  writeFileSync(path, node('10.2.0.0/24'));
  const scan = await scanManifests(folder);
  rmSync(path);
  assert.deepEqual(await look(scan), { again: true, changes: [], contests: 0 });
});

test('FILES-5 a file that was new when it was read is read again, since its times may not show the next change', async t => {
  const { path, folder, look } = await setUp(t);
  const scan = await scanManifests(folder);
  writeFileSync(path, node('10.2.0.0/24'));
  assert.deepEqual((await look(scan)).changes, ['10.1.0.0/24 -> 10.2.0.0/24']);
});

test('FILES-5 a file that is old and looks the same is not read again', async t => {
  const { path, folder, look } = await setUp(t);
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(path, hourAgo, hourAgo);
  const scan = await scanManifests(folder);
  await look(scan);
  writeFileSync(path, node('10.2.0.0/24'));
  assert.deepEqual((await look(scan)).changes, []);
});
