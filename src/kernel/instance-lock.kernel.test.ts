import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InstanceLock } from './instance-lock.ts';
import { NetworkNamespace } from './netns.ts';

test('KERNEL-10 each network namespace has at most one holder, and a released lock can be taken again', () => {
  const one = NetworkNamespace.create();
  const other = NetworkNamespace.create();
  try {
    const first = InstanceLock.take('lock-test', one);
    assert.ok(first);
    assert.equal(InstanceLock.take('lock-test', one), undefined);
    const elsewhere = InstanceLock.take('lock-test', other);
    assert.ok(elsewhere);
    first.release();
    const again = InstanceLock.take('lock-test', one);
    assert.ok(again);
    again.release();
    elsewhere.release();
  } finally {
    one.close();
    other.close();
  }
});
