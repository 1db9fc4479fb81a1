import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../../api/index.ts';
import { chooseNode } from './choose-node.ts';
import type { Snapshot } from './snapshot.ts';

function snapshotOf(...names: readonly string[]): Snapshot {
  const node = (name: string): Node => ({
    kind: 'Node',
    metadata: { name, namespace: '', labels: {}, annotations: {} },
    podCIDRs: [],
    addresses: [],
  });
  return {
    origin: 'cluster',
    name: 'server:6443',
    services: new Map(),
    slices: new Map(),
    nodes: new Map(names.map(name => [name, node(name)])),
    serviceCidrs: [],
    whereOf: () => undefined,
    problems: [],
    notes: [],
  };
}

test('CLI-70 of several Nodes, the one with the name of this machine counts, and a note says so', () => {
  assert.deepEqual(chooseNode('', snapshotOf('a', 'b'), 'B'), {
    name: 'b',
    isThisMachine: false,
    note: "this is the view of the Node b, which has this machine's name",
  });
  assert.throws(
    () => chooseNode('', snapshotOf('a', 'b'), 'c'),
    /^FlagError: server:6443 has 2 Nodes: name one with --node: a, b$/,
  );
});

test('CLI-70 a name counts more than the only Node, and more than the name of this machine', () => {
  assert.equal(chooseNode('a', snapshotOf('a', 'b'), 'b').name, 'a');
  assert.throws(
    () => chooseNode('b', snapshotOf('a'), 'b'),
    /^FlagError: there is no Node b in server:6443: the Nodes are a$/,
  );
});

test('CLI-70 without any Node, this machine is the node, also under another name', () => {
  const note = 'the cluster has no Node, so the plan uses the addresses of this machine';
  assert.deepEqual(chooseNode('', snapshotOf(), 'Laptop'), { name: 'laptop', isThisMachine: true, note });
  assert.deepEqual(chooseNode('x', snapshotOf(), 'laptop'), { name: 'x', isThisMachine: true, note });
});
