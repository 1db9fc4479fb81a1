import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodeControlGroup } from './cgroup.ts';

const isCgroup2 = () => true;

function withFolders(names: readonly string[], work: (folder: string, id: bigint) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'cgroup-'));
  try {
    for (const name of names) mkdirSync(join(folder, name), { recursive: true });
    work(folder, statSync(folder, { bigint: true }).ino);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

for (const name of ['kubepods', 'kubepods.slice', 'kubelet', 'kubelet.slice']) {
  test(`BPF-11 a control group with ${name} in it is the root of a node that is a container`, () =>
    withFolders(['system.slice', name], (path, id) =>
      assert.deepEqual(nodeControlGroup(undefined, { usual: [path], isCgroup2 }), { path, id }),
    ));
}

test('BPF-11 the control group of a container is not taken, and the reason says what to mount', () =>
  withFolders(['system.slice', 'notkubepods'], path =>
    assert.deepEqual(nodeControlGroup(undefined, { usual: [path], isCgroup2 }), {
      missing: `${path} has only the processes of this container; mount the host's /sys/fs/cgroup there`,
    }),
  ));

test('BPF-11 the first usual place that has cgroup2 counts', () =>
  withFolders(['kubepods'], (path, id) =>
    assert.deepEqual(
      nodeControlGroup(undefined, { usual: ['/nowhere', path, '/'], isCgroup2: p => p !== '/nowhere' }),
      {
        path,
        id,
      },
    ),
  ));

test('BPF-11 without cgroup2 the reason names the usual places', () =>
  assert.deepEqual(nodeControlGroup(undefined, { isCgroup2: () => false }), {
    missing: 'no cgroup2 file system is mounted at /sys/fs/cgroup/unified or /sys/fs/cgroup',
  }));

test('BPF-11 a folder that the operator names is taken as it is, if it is on cgroup2', () => {
  withFolders([], (path, id) => assert.deepEqual(nodeControlGroup(path, { isCgroup2 }), { path, id }));
  for (const path of ['/nowhere', tmpdir()]) {
    assert.deepEqual(nodeControlGroup(path), { missing: `${path} is no folder of a cgroup2 file system` });
  }
});

test('BPF-11 where several nodes share a machine, the control group with the name of the node is taken', () =>
  withFolders(['node-a/kubepods', 'node-b/kubepods', 'system.slice'], (path, rootId) => {
    const found = (nodeName: string) => nodeControlGroup(undefined, { usual: [path], isCgroup2, rootId, nodeName });
    assert.deepEqual(found('node-b'), {
      path: join(path, 'node-b'),
      id: statSync(join(path, 'node-b'), { bigint: true }).ino,
    });
    assert.deepEqual(found('node-c'), {
      missing: `several nodes share ${path}: node-a, node-b; name the control group of this one with --cgroup-root`,
    });
  }));

test('BPF-11 a single node has the whole machine, also if its pods have a control group of their own', () =>
  withFolders(['node-a/kubepods', 'system.slice'], (path, rootId) =>
    assert.deepEqual(nodeControlGroup(undefined, { usual: [path], isCgroup2, rootId, nodeName: 'node-a' }), {
      path,
      id: rootId,
    }),
  ));
