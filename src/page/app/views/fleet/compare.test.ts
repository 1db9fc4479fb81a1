import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  FleetServiceRow,
  KnownEndpoint,
  KnownService,
  NodeServiceRow,
  UsedEndpoints,
} from '../../../fleet/index.ts';
import { compareNodes } from './compare.ts';

const A: KnownEndpoint = endpoint('10.244.1.10:80', 'node-a');
const B: KnownEndpoint = endpoint('10.244.2.10:80', 'node-b');
const ID = 'IPv4 http/TCP';

function endpoint(address: string, node: string, more: Partial<KnownEndpoint> = {}): KnownEndpoint {
  return { address, node, ready: true, serving: true, terminating: false, ...more };
}

function known(endpoints: readonly KnownEndpoint[], policy = 'Cluster'): KnownService {
  const frontends = ['ClusterIP 10.96.0.1 80'];
  return { kind: 'known', ports: [{ id: ID, internalTrafficPolicy: policy, frontends, endpoints }] };
}

function uses(use: { cluster?: readonly KnownEndpoint[]; local?: readonly KnownEndpoint[] }): UsedEndpoints {
  const texts = (list: readonly KnownEndpoint[] | undefined) => list?.map(({ address }) => address);
  return { kind: 'used', ports: [{ id: ID, cluster: texts(use.cluster), local: texts(use.local) }] };
}

interface Given {
  readonly node: string;
  readonly knows: KnownService;
  readonly uses: UsedEndpoints;
  readonly changed?: string;
  readonly state?: NonNullable<NodeServiceRow['row']>['state'];
  readonly reasons?: readonly string[];
}

/** The verdicts as texts, by node. */
function verdicts(given: readonly Given[], more: readonly FleetServiceRow[] = []): Record<string, string> {
  const contents = new Map<string, KnownService | UsedEndpoints>();
  const rows = given.map((one): FleetServiceRow => {
    const digests = [one.knows, one.uses].map(content => {
      contents.set(JSON.stringify(content), content);
      return JSON.stringify(content);
    });
    const { state = 'programmed', reasons = [], changed } = one;
    const row = { state, reasons, changed, endpoints: [] };
    return { node: one.node, pod: 'p', milliseconds: 1, row, known: digests[0], used: digests[1], contents: {} };
  });
  return Object.fromEntries(
    [...compareNodes([...rows, ...more], contents)].map(([node, { state, reasons }]) => [
      node,
      [state, ...reasons].join('; '),
    ]),
  );
}

const both = { knows: known([A, B]), uses: uses({ cluster: [A, B] }) };

test('FLEET-6 nodes that know and use the same are the same', () => {
  assert.deepEqual(
    verdicts([
      { node: 'node-a', ...both },
      { node: 'node-b', ...both },
    ]),
    {
      'node-a': 'same',
      'node-b': 'same',
    },
  );
});

test('FLEET-6 a node with other endpoints than most is behind, and the reasons name them', () => {
  const old = endpoint('10.244.3.10:80', 'node-c');
  const notReady = { ...A, ready: false };
  const behind = { node: 'node-c', knows: known([notReady, old]), uses: uses({ cluster: [old] }) };
  const others = [
    { node: 'node-a', ...both },
    { node: 'node-b', ...both },
  ];
  assert.equal(
    verdicts([behind, ...others])['node-c'],
    [
      'behind',
      `${ID}: has another state of 10.244.1.10:80`,
      `${ID}: still has the endpoint 10.244.3.10:80`,
      `${ID}: lacks the endpoint 10.244.2.10:80`,
    ].join('; '),
  );
  const service = { ...behind, knows: known([A, B], 'Local'), uses: uses({ local: [] }) };
  assert.equal(verdicts([service, ...others])['node-c'], `behind; ${ID}: has other addresses or policies`);
  const empty = { ...behind, knows: { kind: 'known', ports: [] } as const };
  assert.equal(verdicts([empty, ...others])['node-c'], `behind; lacks the port ${ID}`);
});

test('FLEET-6 a node with a newer change than most is ahead; of two equal halves the newer one counts', () => {
  const newer = { knows: known([A]), uses: uses({ cluster: [A] }), changed: '2026-01-01T00:00:02.000Z' };
  const older = { ...both, changed: '2026-01-01T00:00:01.000Z' };
  const three = verdicts([
    { node: 'a', ...newer },
    { node: 'b', ...older },
    { node: 'c', ...older },
  ]);
  assert.match(three.a ?? '', /^ahead;/);
  assert.equal(three.b, 'same');
  const two = verdicts([
    { node: 'b', ...older },
    { node: 'a', ...newer },
  ]);
  assert.equal(two.a, 'same');
  assert.match(two.b ?? '', /^behind; .*still has the endpoint 10\.244\.2\.10:80$/);
});

test('FLEET-6 a node whose kernel waits for the last changes is behind', () => {
  const found = verdicts([
    { node: 'a', ...both, state: 'waiting' },
    { node: 'b', ...both },
  ]);
  assert.equal(found.a, 'behind; the kernel of the node does not have the last changes yet');
});

test('FLEET-7 policy Local and hints are expected differences', () => {
  const local = known([A, B], 'Local');
  assert.deepEqual(
    verdicts([
      { node: 'node-a', knows: local, uses: uses({ local: [A] }) },
      { node: 'node-b', knows: local, uses: uses({ local: [B] }) },
      { node: 'node-c', knows: local, uses: uses({ local: [] }), state: 'noLocalEndpoints' },
    ]),
    { 'node-a': 'same', 'node-b': 'same', 'node-c': 'same' },
  );
  const hinted = known([
    { ...A, hints: ['zone-a'] },
    { ...B, hints: ['zone-b'] },
  ]);
  assert.deepEqual(
    verdicts([
      { node: 'node-a', knows: hinted, uses: uses({ cluster: [A] }) },
      { node: 'node-b', knows: hinted, uses: uses({ cluster: [B] }) },
      { node: 'node-c', knows: hinted, uses: uses({ cluster: [A, B] }) },
    ]),
    { 'node-a': 'same', 'node-b': 'same', 'node-c': 'same' },
  );
});

test('FLEET-7 terminating endpoints that serve are expected only if none is ready', () => {
  const leaving = { ...A, ready: false, terminating: true };
  const last = { knows: known([leaving]), uses: uses({ cluster: [leaving] }) };
  assert.deepEqual(verdicts([{ node: 'a', ...last }]), { a: 'same' });
  const other = { knows: known([leaving, B]), uses: uses({ cluster: [leaving, B] }) };
  assert.deepEqual(verdicts([{ node: 'a', ...other }]), { a: `differs; ${ID}: uses 10.244.1.10:80` });
});

test('FLEET-7 a node that uses other endpoints than its EndpointSlices mean differs', () => {
  const found = verdicts([
    { node: 'node-a', ...both },
    { node: 'node-b', knows: both.knows, uses: uses({ cluster: [A] }) },
    { node: 'node-c', knows: both.knows, uses: uses({ cluster: [A, B], local: [B] }) },
  ]);
  assert.equal(found['node-a'], 'same');
  assert.equal(found['node-b'], `differs; ${ID}: does not use 10.244.2.10:80`);
  assert.equal(found['node-c'], `differs; ${ID}: uses 10.244.2.10:80`);
});

test('FLEET-8 set-aside ports, nodes that do not know the Service, and silent nodes are shown as such', () => {
  const silent: FleetServiceRow = { node: 'd', silence: { kind: 'timeout', reason: 'no answer within 5 s' } };
  const unaware: FleetServiceRow = { node: 'c', pod: 'p', milliseconds: 1, contents: {} };
  const found = verdicts(
    [
      { node: 'a', ...both },
      { node: 'b', ...both, state: 'setAside', reasons: ['IPv4: too many'] },
    ],
    [unaware, silent],
  );
  assert.deepEqual(found, {
    a: 'same',
    b: 'setAside; IPv4: too many',
    c: 'unknown; the node does not know the Service',
    d: 'silent; no answer within 5 s',
  });
  assert.deepEqual(verdicts([], [unaware]), { c: 'same' }, 'no node knows it');
});
