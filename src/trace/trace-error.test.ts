import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KernelError } from '../kernel/errors.ts';
import { TraceError } from './trace-error.ts';

const operation = 'create table inet t { flags owner ; }';

test('TRACE-3 a kernel without tables that end with their socket is refused, with what to do', () => {
  const { message } = TraceError.fromKernel(new KernelError('KERNEL_REFUSED', { operation, errno: 'EINVAL' }));
  assert.match(message, /needs Linux 5\.12 or later/);
  assert.match(message, /nft monitor trace/);
});

test('TRACE-3 missing rights are named', () => {
  const { message } = TraceError.fromKernel(new KernelError('KERNEL_REFUSED', { operation, errno: 'EPERM' }));
  assert.match(message, /CAP_NET_ADMIN/);
  assert.match(message, /run this as root/);
});
