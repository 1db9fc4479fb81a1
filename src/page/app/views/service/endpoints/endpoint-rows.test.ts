import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { endpoint } from '../fixture.ts';
import { conditionText, endpointRows, usedCounts, weightText } from './endpoint-rows.ts';

const USED = { used: true, reason: 'ready' };
const OTHER = { used: false, reason: 'on another node' };
const LIST = [
  endpoint('10.0.0.1:80', { clusterPolicy: { used: false, reason: 'not ready' }, ready: false, serving: false }),
  endpoint('10.0.0.2:80', { localPolicy: OTHER }),
  endpoint('10.0.0.3:80', { localPolicy: USED, local: true }),
];

describe('the table of endpoints', () => {
  test('BALANCE-24 an endpoint has its weight, and the part of it that it gets for now', () => {
    assert.equal(weightText(endpoint('10.0.0.1:80', {})), '–');
    assert.equal(weightText(endpoint('10.0.0.1:80', { weight: 3 })), '3');
    assert.equal(weightText(endpoint('10.0.0.1:80', { weight: 1, part: 0.5 })), '1, 50\u00a0% of it for now');
  });

  test('PAGE-68 used endpoints come first, and those of this node before others', () => {
    assert.deepEqual(
      endpointRows(LIST).map(({ endpoint: { address }, isUsed }) => [address, isUsed]),
      [
        ['10.0.0.3:80', true],
        ['10.0.0.2:80', true],
        ['10.0.0.1:80', false],
      ],
    );
  });

  test('PAGE-68 conditions are words', () => {
    const text = (ready: boolean, serving: boolean, terminating: boolean) =>
      conditionText({ ready, serving, terminating });
    assert.equal(text(true, true, false), 'ready');
    assert.equal(text(false, false, false), 'not ready');
    assert.equal(text(false, true, true), 'terminating, still serving');
    assert.equal(text(false, false, true), 'terminating');
  });

  test('PAGE-68 each policy that the port has counts what it uses', () => {
    assert.deepEqual(usedCounts(LIST), { cluster: 2, local: 1 });
    assert.deepEqual(usedCounts([endpoint('10.0.0.1:80')]), { cluster: 1, local: undefined });
  });
});
