import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { close, socket } from '../libc.ts';
import { NetworkNamespace } from '../netns.ts';
import { assemble } from './assemble.ts';
import { call, label, load, note, set, when } from './instruction.ts';
import { iterate } from './iterator.ts';
import { readKernelTypes } from './kernel-types.ts';
import { BpfMap } from './map.ts';
import { r1, r2, r3, r6, r7 } from './place.ts';
import { BpfProgram } from './program.ts';
import { returns } from './stack.ts';
import { bytesOf, struct, u32 } from './struct.ts';

const Peer = struct({ number: u32, zero: u32 });
const pointer = (base: typeof r1, index: number) => ({ base, offset: index * 8, size: 8 }) as const;

/** The program gets pointers: what it is called for, the map, the socket and the socket's value. */
const writeValue = assemble([
  note('the value of a socket; none at the end'),
  set(r6, r1),
  load(r7, pointer(r6, 3)),
  when(r7, '==', 0, 'out'),
  note('the output is the first field of the first pointer'),
  load(r1, pointer(r6, 0)),
  load(r1, pointer(r1, 0)),
  set(r2, r7),
  set(r3, bytesOf(Peer)),
  call('seq_write'),
  label('out'),
  returns(0),
]);

describe('BPF-12 iterators', () => {
  let map: BpfMap;
  let program: BpfProgram;
  let sockets: readonly number[] = [];

  before(() => {
    map = BpfMap.create({
      name: 'peers',
      type: 'socket storage',
      keyBytes: 4,
      valueBytes: bytesOf(Peer),
      entries: 0,
      value: Peer,
    });
    const attachBtfId = readKernelTypes()?.functionId('bpf_iter_bpf_sk_storage_map');
    const spec = { name: 'sockets', hook: 'iterator', file: 'test.ts', assembled: writeValue, attachBtfId } as const;
    program = BpfProgram.load(spec, () => map.fd);
  });

  after(() => {
    for (const fd of sockets) close(fd);
    program.close();
    map.close();
  });

  const numbers = () =>
    [...iterate(program, map)].flatMap(part => {
      assert.equal(part.length % bytesOf(Peer), 0, 'a record is never cut');
      return Array.from({ length: part.length / bytesOf(Peer) }, (_, i) => part.readUInt32LE(i * bytesOf(Peer)));
    });

  test('BPF-12 no sockets give no output', () => assert.deepEqual([...iterate(program, map)], []));

  test('BPF-12 an iterator sees the sockets of all network namespaces, more than one read can have', () => {
    const [AF_INET, SOCK_DGRAM] = [2, 2];
    const openSocket = () => socket(AF_INET, SOCK_DGRAM, 0);
    const namespace = NetworkNamespace.create();
    sockets = Array.from({ length: 6000 }, (_, i) => (i % 2 === 0 ? openSocket() : -1));
    sockets = namespace.run(() => sockets.map(fd => (fd < 0 ? openSocket() : fd)));
    namespace.close();
    const [key, value] = [Buffer.alloc(4), Buffer.alloc(bytesOf(Peer))];
    for (const [i, fd] of sockets.entries()) {
      key.writeInt32LE(fd);
      value.writeUInt32LE(i);
      map.update(key, value);
    }
    assert.deepEqual(
      numbers().sort((a, b) => a - b),
      sockets.map((_, i) => i),
    );
  });

  test('BPF-12 a caller may stop early', () => {
    for (const part of iterate(program, map)) {
      assert.ok(part.length > 0);
      break;
    }
  });
});
