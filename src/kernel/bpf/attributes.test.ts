import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as attributes from './attributes.ts';
import { bytesOf, type Struct } from './struct.ts';
import { StructBytes } from './struct-bytes.ts';

/** The kernel's name of each field of `union bpf_attr`, its offset and its size, as a C compiler prints them. */
const BY_COMPILER: Readonly<Record<string, string>> = {
  MapCreate:
    'map_type@0+4 key_size@4+4 value_size@8+4 max_entries@12+4 map_flags@16+4 inner_map_fd@20+4 numa_node@24+4 ' +
    'map_name@28+16 map_ifindex@44+4 btf_fd@48+4 btf_key_type_id@52+4 btf_value_type_id@56+4',
  MapElement: 'map_fd@0+4 key@8+8 value@16+8 flags@24+8',
  MapBatch: 'in_batch@0+8 out_batch@8+8 keys@16+8 values@24+8 count@32+4 map_fd@36+4 elem_flags@40+8 flags@48+8',
  ProgramLoad:
    'prog_type@0+4 insn_cnt@4+4 insns@8+8 license@16+8 log_level@24+4 log_size@28+4 log_buf@32+8 kern_version@40+4 ' +
    'prog_flags@44+4 prog_name@48+16 prog_ifindex@64+4 expected_attach_type@68+4 prog_btf_fd@72+4 ' +
    'func_info_rec_size@76+4 func_info@80+8 func_info_cnt@88+4 line_info_rec_size@92+4 line_info@96+8 ' +
    'line_info_cnt@104+4 attach_btf_id@108+4',
  BtfLoad: 'btf@0+8 btf_log_buf@8+8 btf_size@16+4 btf_log_size@20+4 btf_log_level@24+4',
  ObjectPath: 'pathname@0+8 bpf_fd@8+4 file_flags@12+4',
  ObjectInfo: 'bpf_fd@0+4 info_len@4+4 info@8+8',
  ObjectId: 'prog_id@0+4 next_id@4+4 open_flags@8+4',
  ProgramQuery: 'target_fd@0+4 attach_type@4+4 query_flags@8+4 attach_flags@12+4 prog_ids@16+8 prog_cnt@24+4',
  LinkCreate: 'prog_fd@0+4 target_fd@4+4 attach_type@8+4 flags@12+4 iter_info@16+8 iter_info_len@24+4',
  LinkUpdate: 'link_fd@0+4 new_prog_fd@4+4 flags@8+4 old_prog_fd@12+4',
  LinkDetach: 'link_fd@0+4',
  IteratorCreate: 'link_fd@0+4 flags@4+4',
  IteratorTarget: 'map_fd@0+4',
};

for (const [name, type] of Object.entries<Struct>(attributes)) {
  test(`BPF-5 ${name} has its fields where the kernel has them`, () => {
    const expected = BY_COMPILER[name]?.split(' ').map(field => field.replace(/^.*@/, ''));
    const places = Object.values(type).map(({ offset, size, count }) => `${offset}+${size * count}`);
    assert.deepEqual(places, expected);
  });

  test(`BPF-5 ${name} has every value at its place, byte for byte`, () => {
    const fields = Object.values(type);
    // Each number consists of one repeated byte. A text that is too long keeps a zero at its end.
    const values = fields.map(({ name, size, count }, i) => [
      name,
      count === 1 ? repeated(i + 1, size) : 'x'.repeat(20),
    ]);
    const { bytes } = new StructBytes(type, Object.fromEntries(values));
    const expected = Buffer.alloc(bytesOf(type));
    for (const [i, { offset, size, count }] of fields.entries()) {
      if (count === 1) expected.fill(i + 1, offset, offset + size);
      else expected.fill('x', offset, offset + size * count - 1);
    }
    assert.equal(bytes.toString('hex'), expected.toString('hex'));
  });
}

function repeated(byte: number, size: number): bigint | number {
  const value = BigInt(`0x${byte.toString(16).padStart(2, '0').repeat(size)}`);
  return size === 8 ? value : Number(value);
}
