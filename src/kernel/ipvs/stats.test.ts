import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageWriter } from '../netlink/index.ts';
import { decodeStats, printStats } from './stats.ts';

const attributes = (write: (writer: MessageWriter) => void): Buffer => {
  const writer = new MessageWriter();
  write(writer);
  return writer.bytes;
};

const WIDE = attributes(writer => {
  for (let type = 1; type <= 10; type++) writer.u64(type, (1n << 40n) + BigInt(type));
});
const NARROW = attributes(writer => {
  writer.u32(1, 1).u32(2, 2).u32(3, 3).u64(4, 4n).u64(5, 5n);
  for (let type = 6; type <= 10; type++) writer.u32(type, type);
});

test('KERNEL-1 prefers 64-bit statistics', () => {
  const stats = decodeStats(WIDE, NARROW);
  assert.deepEqual(
    stats && Object.values(stats),
    [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n, 10n].map(n => (1n << 40n) + n),
  );
});

test('KERNEL-1 decodes statistics of mixed width if there are no 64-bit statistics', () => {
  const stats = decodeStats(undefined, NARROW);
  assert.deepEqual(stats && Object.values(stats), [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n, 10n]);
  assert.equal(stats && printStats(stats), '1 2 3 4 5');
});

test('KERNEL-1 an object without statistics has none', () => {
  assert.equal(decodeStats(undefined, undefined), undefined);
});
