import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { flockOwner } from './lock-holder.ts';

const LOCKS = `1: POSIX  ADVISORY  WRITE 100 fe:00:77 0 EOF
2: FLOCK  ADVISORY  WRITE 200 00:1a:77 0 EOF
3: FLOCK  ADVISORY  WRITE 300 fe:00:77 0 EOF
3: -> FLOCK  ADVISORY  WRITE 400 fe:00:77 0 EOF
4: FLOCK  ADVISORY  WRITE 500 fe:01:88 0 EOF
`;
const DEVICE = 0xfe00;

test('KERNEL-9 the owner of an flock is the process that holds it, not one that waits for it', () => {
  assert.equal(flockOwner(LOCKS, DEVICE, 77), 300);
});

test('KERNEL-9 if the device number differs, the owner is found by the inode', () => {
  assert.equal(flockOwner(LOCKS, DEVICE, 88), 500);
});

test('KERNEL-9 a file without a lock has no owner', () => {
  assert.equal(flockOwner(LOCKS, DEVICE, 99), undefined);
  assert.equal(flockOwner('', DEVICE, 77), undefined);
});

test('KERNEL-9 arbitrary text has no owner and never makes the reader throw', () => {
  fc.assert(fc.property(fc.string(), text => assert.equal(flockOwner(text, DEVICE, 77), undefined)));
});
