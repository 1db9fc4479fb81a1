import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errnoName } from '../libc.ts';
import { ipsetRefusalError, isExistError } from './refusal.ts';

const ack = (errno: number, message?: string) => ({
  sequence: 1,
  errno: errnoName(errno),
  message,
  offset: undefined,
  missing: undefined,
});

test('KERNEL-1 an error has the name that ipset gives it, and its meaning', () => {
  assert.equal(
    ipsetRefusalError('destroy A', ack(4100)).message,
    'destroy A: IPSET_ERR_BUSY: the set is in use by a rule or another set',
  );
  assert.equal(ipsetRefusalError('flush A', ack(2)).message, 'flush A: ENOENT: there is no set with this name');
  assert.equal(ipsetRefusalError('create A', ack(17)).message, 'create A: EEXIST: there is another set with this name');
  assert.equal(ipsetRefusalError('flush A', ack(1)).message, 'flush A: EPERM');
  assert.equal(ipsetRefusalError('flush A', ack(5000)).errno, 'errno 5000');
});

test('KERNEL-1 the meaning of an error number depends on the set type', () => {
  assert.equal(ipsetRefusalError('add A', ack(4352), 'hash:ip').errno, 'IPSET_ERR_HASH_FULL');
  assert.equal(ipsetRefusalError('add A', ack(4352), 'bitmap:port').errno, 'IPSET_ERR_BITMAP_RANGE');
  assert.equal(ipsetRefusalError('add A', ack(4354), 'bitmap:port').errno, 'errno 4354');
});

test("KERNEL-1 the kernel's own message replaces our explanation", () => {
  const { kernelMessage, reason } = ipsetRefusalError('add A', ack(4103, 'no'));
  assert.deepEqual({ kernelMessage, reason }, { kernelMessage: 'no', reason: undefined });
});

test('KERNEL-1 recognises the error for an entry that exists already or does not exist', () => {
  assert.ok(isExistError(ack(4103)));
  assert.ok(!isExistError(ack(17)));
});
