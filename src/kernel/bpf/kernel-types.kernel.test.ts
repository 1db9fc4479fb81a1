import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KernelError } from '../errors.ts';
import { close } from '../libc.ts';
import { loadBtf } from './btf-load.ts';
import { BtfWriter } from './btf-writer.ts';
import { readKernelTypes } from './kernel-types.ts';
import { struct, u8, u16, u32, u64 } from './struct.ts';

test('BPF-4 the kernel accepts the type information that we write', () => {
  const writer = new BtfWriter();
  const int = writer.int('int', 4, true);
  writer.struct('peer', struct({ state: u32, port: u16, flags: [u8, 2], namespace: u64, address: [u32, 4] }));
  writer.func('main', int);
  close(loadBtf(writer.bytes()));
});

test('BPF-4 the kernel says what is wrong with type information', () => {
  const writer = new BtfWriter();
  writer.array(7, 7, 3);
  assert.throws(
    () => close(loadBtf(writer.bytes())),
    (error: unknown) =>
      error instanceof KernelError &&
      error.errno === 'EINVAL' &&
      error.operation === 'bpf BTF_LOAD types' &&
      /ARRAY .*Invalid/.test(error.kernelMessage ?? ''),
  );
});

test("BPF-14 functions and members of the kernel's structures are found by name", () => {
  const types = readKernelTypes();
  assert.ok(types, 'this kernel publishes its types');
  assert.ok(types.functionId('bpf_iter_bpf_sk_storage_map'));
  assert.equal(types.functionId('sock_common'), undefined);
  // The members of the first union are at the beginning in all versions: inet_hash and the system's own tools rely on it.
  assert.deepEqual(types.member('sock_common', 'skc_daddr'), { offset: 0, size: 4 });
  assert.deepEqual(types.member('sock_common', 'skc_rcv_saddr'), { offset: 4, size: 4 });
  const sizes = ['skc_family', 'skc_state', 'skc_num', 'skc_v6_rcv_saddr'].map(
    name => types.member('sock', '__sk_common', name)?.size,
  );
  assert.deepEqual(sizes, [2, 1, 2, 16]);
});

test('BPF-14 a kernel that publishes no types is no error', () => {
  assert.equal(readKernelTypes('/nonexistent'), undefined);
  assert.equal(readKernelTypes('/proc/self/status'), undefined);
});
