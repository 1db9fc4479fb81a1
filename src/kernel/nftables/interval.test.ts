import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Element } from './element.ts';
import { intervalEnd, intervalStart, joinIntervals } from './interval.ts';

const key = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);

/** Ranges in ascending order. Some touch each other, some reach the lowest or highest key, some have a single key. */
const ranges = fc
  .uniqueArray(fc.oneof(fc.nat(0xffff), fc.constantFrom(0, 1, 0xfffe, 0xffff)), { maxLength: 20 })
  .map(points => points.sort((a, b) => a - b))
  .chain(points => fc.tuple(fc.constant(points), fc.array(fc.nat(2), { minLength: 20, maxLength: 20 })))
  .map(([points, ends]) =>
    points.map((first, i): Element => {
      const furthest = (points[i + 1] ?? 0x10000) - 1;
      const last = [first, furthest, (first + furthest) >> 1][ends[i] ?? 0] ?? first;
      const comment = `${first}`;
      return first === last
        ? { kind: 'element', key: key(first), comment }
        : { kind: 'element', key: key(first), keyEnd: key(last), comment };
    }),
  );

test('KERNEL-1 joinIntervals restores ranges from their ends in any order', () => {
  fc.assert(
    fc.property(ranges, fc.integer(), (ranges, seed) => {
      const parts = ranges.flatMap(range => [intervalStart(range), intervalEnd(range) ?? []].flat());
      const shuffled = parts
        .map((part, i): [number, Element] => [Math.imul(seed ^ i, 0x9e3779b1), part])
        .sort(([a], [b]) => a - b)
        .map(([, part]) => part);
      assert.deepEqual(joinIntervals(shuffled), ranges);
    }),
  );
});

test('KERNEL-1 a range up to the highest key has no end element', () => {
  assert.equal(intervalEnd({ kind: 'element', key: key(5), keyEnd: key(0xffff) }), undefined);
  assert.deepEqual(intervalEnd({ kind: 'element', key: key(0xff) })?.key, key(0x100));
});

test('KERNEL-1 an end element before the first range, as nft writes it, is no range', () => {
  assert.deepEqual(joinIntervals([{ kind: 'element', key: key(0), intervalEnd: true }]), []);
});
