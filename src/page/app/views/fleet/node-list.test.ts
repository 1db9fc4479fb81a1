import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FleetRow, NodeRow, SilentNode } from '../../../fleet/index.ts';
import {
  chosenNodes,
  comparisonText,
  countsText,
  type Filter,
  filterOf,
  statusVerdict,
  summaryOf,
} from './node-list.ts';

function node(name: string, more: Partial<NodeRow> = {}): NodeRow {
  return {
    node: name,
    pod: `proxy-${name}`,
    milliseconds: 1,
    version: '0.2.0',
    mode: 'nftables',
    ready: true,
    pending: false,
    watches: { all: 4, synced: 4 },
    syncs: { failed: 0 },
    repairs: 0,
    problems: 0,
    servicePorts: { programmed: 3, setAside: 0 },
    ...more,
  };
}

const silent: SilentNode = { node: 'node-3', silence: { kind: 'timeout', reason: 'no answer within 5 s' } };
const ROWS: readonly FleetRow[] = [
  node('node-10'),
  node('node-9', { mode: 'iptables' }),
  silent,
  node('node-1', { servicePorts: { programmed: 2, setAside: 1 } }),
  node('node-2', { pending: true }),
];

function chosen(search: string, filter: Filter): readonly string[] {
  return chosenNodes(ROWS, statusVerdict, { search, filter }).map(row => row.node);
}

test('FLEET-10 nodes with a finding come first, then nodes by name', () => {
  assert.deepEqual(chosen('', ''), ['node-1', 'node-2', 'node-3', 'node-9', 'node-10']);
});

test('FLEET-10 the search matches nodes and pods, and the filters match states', () => {
  assert.deepEqual(chosen('NODE-1', ''), ['node-1', 'node-10']);
  assert.deepEqual(chosen('proxy 9', ''), ['node-9']);
  assert.deepEqual(chosen('', 'unlike'), ['node-1', 'node-2', 'node-3']);
  assert.deepEqual(chosen('', 'behind'), ['node-2']);
  assert.deepEqual(chosen('', 'setAside'), ['node-1']);
  assert.deepEqual(chosen('', 'silent'), ['node-3']);
  assert.deepEqual(chosen('', 'differs'), []);
  assert.deepEqual([filterOf('silent'), filterOf('other'), filterOf(undefined)], ['silent', '', '']);
});

test('FLEET-10 a status says why a node is not as it should be', () => {
  const text = (row: FleetRow) => [statusVerdict(row).state, ...statusVerdict(row).reasons].join('; ');
  assert.equal(text(node('a')), 'same');
  assert.equal(text(silent), 'silent; no answer within 5 s');
  assert.equal(text(node('a', { ready: false })), 'behind; not ready');
  assert.equal(
    text(node('a', { watches: { all: 4, synced: 3, problem: 'refused' } })),
    'behind; 1 watch has no data; refused',
  );
  assert.equal(
    text(node('a', { syncs: { failed: 1, error: 'no memory' } })),
    'behind; the last sync failed: no memory',
  );
});

test('FLEET-10 a sentence sums up the comparison', () => {
  assert.equal(comparisonText(['same', 'same', 'behind']), 'Of 3 nodes, 2 agree, 1 is behind.');
  assert.equal(comparisonText(['same']), 'Of 1 node, 1 agrees.');
  assert.equal(
    comparisonText(['silent', 'silent', 'setAside']),
    'Of 3 nodes, 0 agree, 1 sets it aside, 2 give no answer.',
  );
});

test('FLEET-10 versions and modes are counted', () => {
  assert.deepEqual(summaryOf(ROWS), {
    nodes: 5,
    answered: 4,
    modes: 'nftables on 3, iptables on 1',
    versions: '0.2.0',
  });
  assert.equal(countsText([]), '');
});
