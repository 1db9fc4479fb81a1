import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withCapabilities } from '../../../test/support/with-capabilities.ts';
import { assemble } from './assemble.ts';
import { readKernelTypes } from './kernel-types.ts';
import { BpfMap } from './map.ts';
import type { MapSpec, MapType } from './map-spec.ts';
import { mapById, mapInfo, programById, programInfo } from './object-info.ts';
import { BpfProgram, type Hook } from './program.ts';
import { returns } from './stack.ts';
import { struct, u64 } from './struct.ts';

const TYPES: readonly MapType[] = ['hash', 'preallocated hash', 'array', 'per-cpu array', 'lru hash', 'socket storage'];
const HOOKS: readonly Hook[] = ['connect4', 'connect6', 'getpeername4', 'getpeername6', 'release'];

function mapOf(type: MapType): BpfMap {
  const spec: MapSpec = { name: 'test', type, keyBytes: 4, valueBytes: 8, entries: 8 };
  return BpfMap.create(type === 'socket storage' ? { ...spec, entries: 0, value: struct({ all: u64 }) } : spec);
}

function programOf(hook: Hook, attachBtfId?: number): BpfProgram {
  return BpfProgram.load(
    { name: 'test', hook, file: 'test.ts', assembled: assemble(returns(1)), attachBtfId },
    () => -1,
  );
}

const NEEDED = 'run kube-proxy as root or with CAP_BPF and CAP_NET_ADMIN';

test('BPF-10 CAP_BPF and CAP_NET_ADMIN are enough for all maps and all programs but iterators', () =>
  withCapabilities(['CAP_BPF', 'CAP_NET_ADMIN'], () => {
    for (const object of [...TYPES.map(mapOf), ...HOOKS.map(hook => programOf(hook))]) object.close();
  }));

test('BPF-10 without CAP_BPF or CAP_NET_ADMIN the error says what is needed', () => {
  withCapabilities(['CAP_NET_ADMIN'], () =>
    assert.throws(() => mapOf('lru hash').close(), {
      errno: 'EPERM',
      message: `bpf MAP_CREATE test: EPERM; ${NEEDED}`,
    }),
  );
  withCapabilities(['CAP_BPF'], () =>
    assert.throws(() => programOf('connect4').close(), {
      errno: 'EPERM',
      message: `bpf PROG_LOAD test: EPERM; ${NEEDED}`,
    }),
  );
});

test('BPF-10 an iterator needs CAP_PERFMON, and the error says so', () => {
  const id = readKernelTypes()?.functionId('bpf_iter_bpf_sk_storage_map');
  withCapabilities(['CAP_BPF', 'CAP_NET_ADMIN'], () =>
    assert.throws(() => programOf('iterator', id).close(), {
      message: 'bpf PROG_LOAD test: EPERM; run kube-proxy as root or with CAP_BPF and CAP_PERFMON',
    }),
  );
});

test('BPF-10 opening objects by id needs CAP_SYS_ADMIN, and the error says so', () => {
  const [map, program] = [mapOf('hash'), programOf('connect4')];
  const [mapId, programId] = [mapInfo(map.fd).id, programInfo(program.fd).id];
  withCapabilities(['CAP_BPF', 'CAP_NET_ADMIN'], () => {
    const advice = 'EPERM; run kube-proxy as root or with CAP_SYS_ADMIN';
    assert.throws(() => mapById(mapId), { message: `bpf MAP_GET_FD_BY_ID map ${mapId}: ${advice}` });
    assert.throws(() => programById(programId), { message: `bpf PROG_GET_FD_BY_ID program ${programId}: ${advice}` });
  });
  map.close();
  program.close();
});
