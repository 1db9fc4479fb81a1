import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toGoFormat } from './sample-text.ts';

test("METRICS-1 samples have upstream's form: labels sorted by name, the bound of a bucket last", () => {
  const family = [
    '# HELP a {le="1000000",b="c"} 1',
    '# TYPE a histogram',
    'a_bucket{le="0.5",table="nat",ip_family="IPv4"} 1',
    'a_bucket{le="+Inf",table="nat",ip_family="IPv4"} 2',
    'a_sum{table="x\\"} 1,b=\\\\",ip_family="IPv4"} 2.5e-7',
    'a 3',
  ].join('\n');
  assert.deepEqual(toGoFormat(family).split('\n').slice(2), [
    'a_bucket{ip_family="IPv4",table="nat",le="0.5"} 1',
    'a_bucket{ip_family="IPv4",table="nat",le="+Inf"} 2',
    'a_sum{ip_family="IPv4",table="x\\"} 1,b=\\\\"} 2.5e-7',
    'a 3',
  ]);
});

test("METRICS-3 bounds have upstream's text, so that sums over nodes with either kube-proxy are right", () => {
  const bound = (le: string) => /le="([^"]*)"/.exec(toGoFormat(`a{le="${le}"} 1`))?.[1];
  assert.deepEqual(['0', '0.001', '262144', '999999', '1000000', '1048576', '16777216', '+Inf'].map(bound), [
    '0',
    '0.001',
    '262144',
    '999999',
    '1e+06',
    '1.048576e+06',
    '1.6777216e+07',
    '+Inf',
  ]);
});
