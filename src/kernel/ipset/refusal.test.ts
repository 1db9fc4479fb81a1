import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errnoName } from '../libc.ts';
import { ipsetRefusal, isExist } from './refusal.ts';

const ack = (errno: number, message?: string) => ({
  sequence: 1,
  errno: errnoName(errno),
  message,
  offset: undefined,
  missing: undefined,
});

test('KERNEL-1 names the errors of ipset and says what they mean', () => {
  assert.equal(
    ipsetRefusal('destroy A', ack(4100)).message,
    'destroy A: IPSET_ERR_BUSY: the set is in use by a rule or another set',
  );
  assert.equal(ipsetRefusal('flush A', ack(2)).message, 'flush A: ENOENT: there is no set of this name');
  assert.equal(ipsetRefusal('create A', ack(17)).message, 'create A: EEXIST: there is another set of this name');
  assert.equal(ipsetRefusal('flush A', ack(1)).message, 'flush A: EPERM');
  assert.equal(ipsetRefusal('flush A', ack(5000)).errno, 'errno 5000');
});

test('KERNEL-1 the same number means other things to other types', () => {
  assert.equal(ipsetRefusal('add A', ack(4352), 'hash:ip').errno, 'IPSET_ERR_HASH_FULL');
  assert.equal(ipsetRefusal('add A', ack(4352), 'bitmap:port').errno, 'IPSET_ERR_BITMAP_RANGE');
  assert.equal(ipsetRefusal('add A', ack(4354), 'bitmap:port').errno, 'errno 4354');
});

test('KERNEL-1 the words of the kernel come first', () => {
  assert.equal(ipsetRefusal('add A', ack(4103, 'no')).kernelMessage, 'no');
});

test('KERNEL-1 knows the error that says whether an entry was there', () => {
  assert.ok(isExist(ack(4103)));
  assert.ok(!isExist(ack(17)));
});
