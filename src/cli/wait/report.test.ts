import assert from 'node:assert/strict';
import { test } from 'node:test';
import { styleFor } from '../style.ts';
import { type MissingNode, progressText, waitReport, waitText } from './report.ts';

const STYLE = styleFor({}, {});

function end(all: number, missing: readonly MissingNode[], sliceCount = 1) {
  const target = { service: 'shop/web', services: '100', endpointSlices: '200', sliceCount };
  return waitReport({ service: 'shop/web', target, nodeCount: all, missing, milliseconds: 30_001 });
}

function lacks(count: number): readonly MissingNode[] {
  return Array.from({ length: count }, (_, i) => ({ node: `node-${i}`, cause: 'stale', message: 'it is old' }));
}

test('PROGRAMMED-13 the report says on how many nodes the Service is, and names the first twenty others', () => {
  assert.equal(waitText(end(1, []), STYLE), '✓ shop/web is programmed on 1 node\n');
  assert.equal(waitText(end(30, [], 0), STYLE), '✓ shop/web is programmed on all 30 nodes; it has no EndpointSlice\n');
  assert.equal(
    waitText(end(3, lacks(2)), STYLE),
    '✗ shop/web is not programmed on 2 of 3 nodes after 30 s\n  node-0: it is old\n  node-1: it is old\n',
  );
  const many = waitText(end(40, lacks(25)), STYLE).split('\n');
  assert.equal(many.length, 23);
  assert.equal(many.at(-2), '  and 5 more');
});

test('PROGRAMMED-13 a node that could not program the Service comes first', () => {
  const report = end(40, [...lacks(25), { node: 'node-x', cause: 'set-aside', message: 'refused' }]);
  assert.equal(report.outcome, 'set-aside');
  assert.equal(report.nodes.missing[0]?.node, 'node-x');
  assert.deepEqual([report.nodes.programmed, report.nodes.missing.length], [14, 20]);
});

test('PROGRAMMED-13 progress names three nodes', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  assert.equal(
    progressText('shop/web', 9, names),
    'shop/web is programmed on 4 of 9 nodes; waiting for a, b, c and 2 more\n',
  );
});
