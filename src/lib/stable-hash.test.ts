import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addToHash, endHash, hashStart, hashText } from './stable-hash.ts';

function hash(text: string): number {
  let value = hashStart();
  for (const byte of Buffer.from(text)) value = addToHash(value, byte);
  return value;
}

test('the hash before its end is FNV-1a', () => {
  assert.equal(hash(''), 0x811c9dc5);
  assert.equal(hash('a'), 0xe40c292c);
  assert.equal(hash('foobar'), 0xbf9cf968);
});

test('a hash is the same in every release', () => {
  assert.deepEqual([endHash(hash('foobar')), hashText('foobar', 1)], [0x0c0da6dc, 0xa01b37a7]);
});
