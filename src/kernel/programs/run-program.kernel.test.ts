import assert from 'node:assert/strict';
import { readlinkSync } from 'node:fs';
import { test } from 'node:test';
import { NetworkNamespace } from '../netns.ts';
import { runProgram } from './run-program.ts';

test('KERNEL-9 a program runs inside the given network namespace, and the caller stays in its own', async () => {
  const namespace = NetworkNamespace.create();
  const home = readlinkSync('/proc/thread-self/ns/net');
  try {
    const running = runProgram('readlink', ['/proc/self/ns/net'], { timeoutMs: 2000, namespace });
    assert.equal(readlinkSync('/proc/thread-self/ns/net'), home);
    const inside = namespace.run(() => readlinkSync('/proc/thread-self/ns/net'));
    assert.equal((await running).stdout.trim(), inside);
    assert.notEqual(inside, home);
  } finally {
    namespace.close();
  }
});
