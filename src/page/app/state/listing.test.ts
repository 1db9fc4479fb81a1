import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testRow } from '../test-row.ts';
import { Listing } from './listing.ts';

test('PAGE-32 a row that came through the stream during a listing wins over the listed one', () => {
  const listing = new Listing();
  assert.deepEqual(listing.take([testRow('a/one')]), [testRow('a/one')]);
  listing.noteLive({ rows: [testRow('a/two')], removed: ['a/three'] });
  assert.deepEqual(listing.take([testRow('a/two'), testRow('a/three'), testRow('a/four')]), [testRow('a/four')]);
});

test('PAGE-32 after a list, Services that neither the list nor the stream has are gone', () => {
  const listing = new Listing();
  listing.take([testRow('a/one')]);
  listing.noteLive({ rows: [testRow('a/new')], removed: [] });
  assert.deepEqual(listing.gone(['a/one', 'a/new', 'a/old']), ['a/old']);
});
