import assert from 'node:assert/strict';
import {
  BpfLink,
  BpfMap,
  closeObject,
  type Hook,
  mapById,
  mapInfo,
  nodeControlGroup,
  PinFolder,
  programById,
  programInfo,
} from '../../src/kernel/bpf/index.ts';
import { linkPin, pinPath } from '../../src/modes/ebpf/names.ts';
import { type MapName, mapSpec } from '../../src/modes/ebpf/programs/index.ts';
import { testControlGroup } from './bpf-lab.ts';

// What another program with privileges may do to ebpf mode.

/** Runs work with the pinned link of a hook. */
export function withPinnedLink<T>(bpffs: string, hook: Hook, work: (link: BpfLink) => T): T {
  const group = nodeControlGroup(testControlGroup());
  assert.ok(!('missing' in group));
  const fd = new PinFolder(pinPath(bpffs, group.id)).open(linkPin(hook));
  assert.ok(fd !== undefined, `${hook} has a pin`);
  const link = BpfLink.of(fd);
  try {
    return work(link);
  } finally {
    link.close();
  }
}

/** Runs work with a map that the pinned program of a hook uses. */
export function withPinnedMap<T>(bpffs: string, hook: Hook, name: MapName, work: (map: BpfMap) => T): T {
  const program = withPinnedLink(bpffs, hook, link => programById(link.info().program));
  try {
    for (const id of programInfo(program).maps) {
      const fd = mapById(id);
      const info = mapInfo(fd);
      if (info.name === name) return closing(BpfMap.of(fd, mapSpec(name, info.entries)), work);
      closeObject(fd);
    }
  } finally {
    closeObject(program);
  }
  return assert.fail(`the program of ${hook} has no map ${name}`);
}

function closing<T>(map: BpfMap, work: (map: BpfMap) => T): T {
  try {
    return work(map);
  } finally {
    map.close();
  }
}
