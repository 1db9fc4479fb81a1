import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDetachedBpffs } from '../../../test/support/detached-bpffs.ts';
import { BpfMap } from './map.ts';
import { mapInfo } from './object-info.ts';
import { closeObject, PinFolder } from './pin-folder.ts';

function withMap(name: string, work: (map: BpfMap) => void): void {
  const map = BpfMap.create({ name, type: 'hash', keyBytes: 4, valueBytes: 4, entries: 4 });
  try {
    work(map);
  } finally {
    map.close();
  }
}

function withFolder(work: (folder: PinFolder, parent: string) => void): void {
  const bpffs = openDetachedBpffs();
  try {
    work(new PinFolder(join(bpffs.path, 'pointsman', 'cgroup-1')), join(bpffs.path, 'pointsman'));
  } finally {
    bpffs.close();
  }
}

function nameOf(folder: PinFolder, pin: string): string {
  const fd = folder.open(pin) ?? assert.fail(`there is no pin ${pin}`);
  try {
    return mapInfo(fd).name;
  } finally {
    closeObject(fd);
  }
}

test('BPF-9 a folder of pins is made with the first pin, for root only', () =>
  withFolder((folder, parent) => {
    assert.deepEqual([folder.exists, folder.names(), PinFolder.within(parent)], [false, [], []]);
    withMap('first', map => folder.pin('peers', map.fd));
    assert.deepEqual([folder.exists, folder.names(), PinFolder.within(parent)], [true, ['peers'], ['cgroup-1']]);
    for (const path of [folder.path, parent]) assert.equal(statSync(path).mode & 0o777, 0o700);
    assert.equal(nameOf(folder, 'peers'), 'first');
  }));

test('BPF-9 a new pin replaces the old one of the same name', () =>
  withFolder(folder => {
    withMap('first', map => folder.pin('peers', map.fd));
    withMap('second', map => folder.pin('peers', map.fd));
    assert.deepEqual([folder.names(), nameOf(folder, 'peers')], [['peers'], 'second']);
  }));

test('BPF-9 a folder of pins is removed with all of them, and removing again is no error', () =>
  withFolder((folder, parent) => {
    withMap('one', map => {
      folder.pin('a', map.fd);
      folder.pin('b', map.fd);
    });
    folder.unpin('a');
    folder.unpin('a');
    assert.deepEqual([folder.has('a'), folder.open('a'), folder.names()], [false, undefined, ['b']]);
    folder.remove();
    folder.remove();
    assert.deepEqual([folder.exists, PinFolder.within(parent)], [false, []]);
  }));
