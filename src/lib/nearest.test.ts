import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editDistance, nearest } from './nearest.ts';

test('CLI-19 the distance counts inserted, deleted, replaced and swapped letters', () => {
  const distances: readonly [a: string, b: string, distance: number][] = [
    ['', '', 0],
    ['', 'abc', 3],
    ['plan', 'plan', 0],
    ['plam', 'plan', 1],
    ['pln', 'plan', 1],
    ['plaan', 'plan', 1],
    ['paln', 'plan', 1],
    ['lpna', 'plan', 2],
    ['demo', 'version', 5],
  ];
  for (const [a, b, distance] of distances) {
    assert.equal(editDistance(a, b), distance, `${a} ${b}`);
    assert.equal(editDistance(b, a), distance, `${b} ${a}`);
  }
});

test('CLI-19 the nearest word is suggested, and a word that is like none is not', () => {
  const flags = ['proxy-mode', 'profiling', 'cluster-cidr', 'config', 'config-sync-period', 'v'];
  const suggestions: readonly [word: string, suggestion: string | undefined][] = [
    ['proxy-mod', 'proxy-mode'],
    ['proxymode', 'proxy-mode'],
    ['porxy-mode', 'proxy-mode'],
    ['cluster', 'cluster-cidr'],
    ['CLUSTER-CIDR', 'cluster-cidr'],
    ['conf', undefined],
    ['confg', 'config'],
    ['foo', undefined],
    ['dance', undefined],
    ['', undefined],
    ['x', undefined],
  ];
  for (const [word, suggestion] of suggestions) assert.equal(nearest(word, flags), suggestion, word);
});
