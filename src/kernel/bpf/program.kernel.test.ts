import assert from 'node:assert/strict';
import { Session } from 'node:inspector';
import { test } from 'node:test';
import { KernelError } from '../errors.ts';
import { close } from '../libc.ts';
import { assemble } from './assemble.ts';
import { label, load, note, type Part, set, when } from './instruction.ts';
import { BpfMap } from './map.ts';
import { mapInfo, programById, programInfo } from './object-info.ts';
import { r0, r2 } from './place.ts';
import { BpfProgram } from './program.ts';
import { clear, frame, lookup, returns } from './stack.ts';
import { struct, u32, u64 } from './struct.ts';

const Key = struct({ address: u32 });
const stack = frame({ key: Key });

function withMap<T>(work: (map: BpfMap) => T): T {
  const map = BpfMap.create({ name: 'frontends4', type: 'hash', keyBytes: 4, valueBytes: 8, entries: 16 });
  try {
    return work(map);
  } finally {
    map.close();
  }
}

function load4(map: BpfMap, parts: Part): BpfProgram {
  return BpfProgram.load(
    { name: 'pm connect4', hook: 'connect4', file: 'connect.ts', assembled: assemble(parts) },
    name => {
      assert.equal(name, 'frontends');
      return map.fd;
    },
  );
}

const find: Part = [note('the key'), clear(stack.key), note('target = frontends[key]'), lookup('frontends', stack.key)];
const value = { base: r0, offset: 0, size: u64 } as const;

test('BPF-3 a program that the verifier refuses says errno, what the verifier says and our notes', () =>
  withMap(map => {
    const parts = [find, note('its flags, which may not be there'), load(r2, value), returns(1)];
    const error = errorOf(() => load4(map, parts));
    assert.deepEqual(
      [error.code, error.operation, error.errno],
      ['KERNEL_REFUSED', 'bpf PROG_LOAD pm connect4', 'EACCES'],
    );
    const lines = (error.kernelMessage ?? '').split('\n');
    assert.ok(lines.length <= 12);
    assert.ok(lines.includes('; target = frontends[key] @ connect.ts:2'), error.message);
    assert.ok(lines.includes('; its flags, which may not be there @ connect.ts:3'), error.message);
    assert.ok(lines.includes("R0 invalid mem access 'map_value_or_null'"), error.message);
  }));

test('BPF-3 a program that the verifier accepts says its name and its maps', () =>
  withMap(map => {
    const program = load4(map, [find, when(r0, '==', 0, 'out'), load(r2, value), label('out'), returns(1)]);
    try {
      const { id, name, tag, maps } = programInfo(program.fd);
      assert.deepEqual([name, maps], ['pm_connect4', [mapInfo(map.fd).id]]);
      assert.match(tag, /^[0-9a-f]{16}$/);
      const again = programById(id);
      assert.equal(programInfo(again).id, id);
      close(again);
    } finally {
      program.close();
    }
  }));

test('BPF-3 the tag of a program depends on its instructions, not on its maps', () => {
  const tagOf = (parts: Part) =>
    withMap(map => {
      const program = load4(map, parts);
      const { tag } = programInfo(program.fd);
      program.close();
      return tag;
    });
  assert.equal(tagOf([find, returns(1)]), tagOf([find, returns(1)]));
  assert.notEqual(tagOf([find, returns(1)]), tagOf([find, set(r2, 0), returns(1)]));
});

test('BPF-3 a program without notes has its name as its only source line', () =>
  withMap(map => {
    const error = errorOf(() => load4(map, [load(r0, { base: r0, offset: 0, size: 4 }), returns(1)]));
    assert.match(error.kernelMessage ?? '', /^; pm connect4 @ connect\.ts:1\n.*R0 !read_ok/ms);
  }));

test('BPF-3 a program loads although signals interrupt the verifier', () =>
  withMap(map => {
    const profiler = new Session();
    profiler.connect();
    profiler.post('Profiler.enable');
    // The profiler sends this thread a signal for each sample.
    profiler.post('Profiler.setSamplingInterval', { interval: 50 });
    profiler.post('Profiler.start');
    try {
      const steps = Array.from({ length: 3000 }, () => set(r2, 0));
      for (let i = 0; i < 50; i++) load4(map, [steps, returns(1)]).close();
    } finally {
      profiler.post('Profiler.stop');
      profiler.disconnect();
    }
  }));

function errorOf(work: () => BpfProgram): KernelError {
  try {
    work().close();
  } catch (error) {
    assert.ok(error instanceof KernelError, String(error));
    return error;
  }
  return assert.fail('the kernel accepted it');
}
