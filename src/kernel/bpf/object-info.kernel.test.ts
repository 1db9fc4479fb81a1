import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readKernelTypes } from './kernel-types.ts';
import { LinkInfoLayout, MapInfoLayout, objectName, ProgramInfoLayout, readIds } from './object-info.ts';
import type { Struct } from './struct.ts';

/** The kernel's names of our fields. */
const NAMES: Readonly<Record<string, readonly [Struct, Readonly<Record<string, string>>]>> = {
  bpf_prog_info: [
    ProgramInfoLayout,
    {
      type: 'type',
      id: 'id',
      tag: 'tag',
      machineCodeSize: 'jited_prog_len',
      codeSize: 'xlated_prog_len',
      machineCode: 'jited_prog_insns',
      code: 'xlated_prog_insns',
      loadTime: 'load_time',
      user: 'created_by_uid',
      mapCount: 'nr_map_ids',
      maps: 'map_ids',
      name: 'name',
    },
  ],
  bpf_map_info: [
    MapInfoLayout,
    {
      type: 'type',
      id: 'id',
      keySize: 'key_size',
      valueSize: 'value_size',
      maxEntries: 'max_entries',
      flags: 'map_flags',
      name: 'name',
    },
  ],
  bpf_link_info: [LinkInfoLayout, { type: 'type', id: 'id', program: 'prog_id' }],
};

test('BPF-5 what the kernel says about its objects is read where the kernel has it', () => {
  const types = readKernelTypes();
  assert.ok(types);
  for (const [name, [type, names]] of Object.entries(NAMES)) {
    for (const [ours, theirs] of Object.entries(names)) {
      const { offset, size, count } = type[ours] ?? assert.fail(ours);
      assert.deepEqual(types.member(name, theirs), { offset, size: size * count }, `${name} ${theirs}`);
    }
  }
  const cgroup = types.member('bpf_link_info', 'cgroup')?.offset ?? assert.fail('cgroup');
  assert.deepEqual([LinkInfoLayout.cgroup?.offset, LinkInfoLayout.attachType?.offset], [cgroup, cgroup + 8]);
});

test('BPF-5 names have only what the kernel takes', () => {
  assert.equal(objectName('a name-that.is_too long'), 'a_name_that.is_');
});

test('BPF-5 of ids for which there was no room, the first ones are read', () => {
  const bytes = Buffer.from('0100000002000000', 'hex');
  assert.deepEqual([readIds(bytes, 0), readIds(bytes, 1), readIds(bytes, 9)], [[], [1], [1, 2]]);
});
