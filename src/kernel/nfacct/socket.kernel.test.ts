import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KernelError } from '../errors.ts';
import { NetworkNamespace } from '../netns.ts';
import { NfacctSocket } from './socket.ts';

function withSocket(work: (socket: NfacctSocket) => void): void {
  const namespace = NetworkNamespace.create();
  const socket = NfacctSocket.open({ namespace });
  try {
    work(socket);
  } finally {
    socket.close();
    namespace.close();
  }
}

test('KERNEL-11 ensure creates a counter once, and get reads it', () =>
  withSocket(socket => {
    assert.equal(socket.get('drops'), undefined);
    socket.ensure('drops');
    socket.ensure('drops');
    assert.deepEqual(socket.get('drops'), { name: 'drops', packets: 0n, bytes: 0n });
    assert.throws(
      () => socket.add('drops'),
      (error: unknown) => error instanceof KernelError && error.errno === 'EBUSY',
    );
  }));

test('KERNEL-11 a name has 1 to 31 bytes', () =>
  withSocket(socket => {
    const name = 'x'.repeat(31);
    socket.add(name);
    assert.equal(socket.get(name)?.name, name);
    for (const bad of ['', 'x'.repeat(32)]) assert.throws(() => socket.add(bad), RangeError);
  }));
