import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testRow } from '../test-row.ts';
import { ServiceIndex } from './service-index.ts';

const keysOf = ({ sorted }: ServiceIndex) => sorted.map(({ key }) => key);

test('PAGE-32 Services stay sorted by name through additions, replacements and removals', () => {
  const index = new ServiceIndex();
  index.change([testRow('b/one'), testRow('a/two')], []);
  index.change([testRow('c/three')], []);
  index.change([testRow('a/one'), testRow('b/one', { state: 'waiting' })], []);
  assert.deepEqual(keysOf(index), ['a/one', 'a/two', 'b/one', 'c/three']);
  assert.equal(index.sorted[2]?.row.state, 'waiting');
  index.change([], ['a/two', 'nothing/here']);
  assert.deepEqual(keysOf(index), ['a/one', 'b/one', 'c/three']);
});

test('PAGE-32 many changes at once give the same order', () => {
  const keys = Array.from({ length: 500 }, (_, i) => `ns-${i % 7}/name-${(i * 37) % 500}`);
  const index = new ServiceIndex();
  index.change([testRow('ns-3/middle')], []);
  index.change(
    keys.map(key => testRow(key)),
    [],
  );
  assert.deepEqual(keysOf(index), [...keys, 'ns-3/middle'].sort());
  index.change([], keys.slice(0, 400));
  assert.deepEqual(keysOf(index), [...keys.slice(400), 'ns-3/middle'].sort());
});
