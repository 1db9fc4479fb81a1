import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexed } from '../../state/service-index.ts';
import { testRow } from '../../test-row.ts';
import { type Filter, type Order, selectServices, toFilter, toOrder } from './selection.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');

const SERVICES = [
  testRow('a/aside', { state: 'setAside', endpoints: [{ family: 'IPv4', used: 0, all: 0 }] }),
  testRow('a/good', { changed: '2026-01-01T11:59:00Z' }),
  testRow('a/local', { state: 'noLocalEndpoints', changed: '2026-01-01T11:00:00Z' }),
  testRow('b/empty', { state: 'noEndpoints', changed: '2026-01-01T11:55:00Z' }),
  testRow('b/headless', { state: 'notProxied', endpoints: [] }),
].map(indexed);

function select(question: { text?: string; filter?: Filter; order?: Order }, found = new Map<string, string>()) {
  const rates = new Map([
    ['b/headless', 2],
    ['a/local', 5],
  ]);
  const { text = '', filter = 'all', order = 'name' } = question;
  const { services, counts } = selectServices(SERVICES, { text, filter, order }, { now: NOW, rates, found });
  return { keys: services.map(({ key }) => key), counts };
}

test('PAGE-41 each filter has its Services and their number', () => {
  assert.deepEqual(select({ filter: 'broken' }).keys, ['a/aside', 'a/local', 'b/empty']);
  assert.deepEqual(select({ filter: 'noEndpoints' }).keys, ['a/aside', 'b/empty']);
  assert.deepEqual(select({ filter: 'noLocalEndpoints' }).keys, ['a/local']);
  assert.deepEqual(select({ filter: 'setAside' }).keys, ['a/aside']);
  assert.deepEqual(select({ filter: 'changed' }).keys, ['a/good', 'b/empty'], 'in the last ten minutes');
  assert.deepEqual(select({}).counts, {
    all: 5,
    broken: 3,
    noEndpoints: 2,
    noLocalEndpoints: 1,
    setAside: 1,
    changed: 2,
  });
});

test('PAGE-41 the numbers of the filters are those of the search', () => {
  const { keys, counts } = select({ text: 'a/', filter: 'broken' });
  assert.deepEqual(keys, ['a/aside', 'a/local']);
  assert.equal(counts.all, 3);
  assert.equal(counts.noEndpoints, 1);
});

test('PAGE-40 Services that the proxy finds by an endpoint or a pod join the others', () => {
  assert.deepEqual(select({ text: 'good' }, new Map([['b/empty', 'endpoint 10.1.2.3 is pod b/good-7f']])).keys, [
    'a/good',
    'b/empty',
  ]);
});

test('PAGE-42 the worst state, the newest change and the most connections come first, and then names decide', () => {
  assert.deepEqual(select({ order: 'state' }).keys, ['a/aside', 'b/empty', 'a/local', 'a/good', 'b/headless']);
  assert.deepEqual(select({ order: 'changed' }).keys, ['a/good', 'b/empty', 'a/local', 'a/aside', 'b/headless']);
  assert.deepEqual(select({ order: 'connections' }).keys, ['a/local', 'b/headless', 'a/aside', 'a/good', 'b/empty']);
});

test('PAGE-42 an unknown filter or order in the address is the default', () => {
  assert.equal(toFilter('strange'), 'all');
  assert.equal(toOrder(undefined), 'name');
});
