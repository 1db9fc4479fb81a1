import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KernelError } from '../errors.ts';
import { uninterrupted } from './uninterrupted.ts';

test('KERNEL-7 a listing that the kernel breaks off hundreds of times in a moment begins again each time', async () => {
  let attempts = 0;
  const listed = await uninterrupted(() => {
    if (++attempts < 300) throw new KernelError('KERNEL_INTERRUPTED', { operation: 'list', reason: 'changed' });
    return 'all';
  });
  assert.deepEqual([listed, attempts], ['all', 300]);
});

test('KERNEL-7 another error ends a listing at once', async () => {
  let attempts = 0;
  const listing = uninterrupted(() => {
    attempts++;
    throw new KernelError('KERNEL_SOCKET', { operation: 'list', reason: 'closed' });
  });
  await assert.rejects(listing, { code: 'KERNEL_SOCKET' });
  assert.equal(attempts, 1);
});
