import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { NetworkNamespace } from '../netns.ts';
import {
  dataBytes,
  type Generation,
  NftablesMonitor,
  NftablesSocket,
  type NftEvent,
  type NftSet,
  Transaction,
} from './index.ts';

interface Lab {
  readonly socket: NftablesSocket;
  readonly events: NftEvent[];
  readonly generations: Generation[];
  nft(script: string): number;
  /** Waits until the monitor has reported this many transactions. */
  waitFor(transactions: number): Promise<void>;
}

async function inNamespace(work: (lab: Lab) => Promise<void>): Promise<void> {
  const namespace = NetworkNamespace.create();
  const socket = NftablesSocket.open({ namespace });
  const events: NftEvent[] = [];
  const generations: Generation[] = [];
  const failures: unknown[] = [];
  const monitor = NftablesMonitor.open(
    {
      changed: event => events.push(event),
      committed: generation => generations.push(generation),
      overrun: () => failures.push('overrun'),
      failed: error => failures.push(error),
    },
    { namespace },
  );
  const nft = (script: string): number => {
    const { pid, status, stderr } = namespace.run(() => spawnSync('nft', [script], { encoding: 'utf8' }));
    assert.equal(status, 0, stderr);
    return pid;
  };
  const waitFor = async (transactions: number): Promise<void> => {
    const deadline = Date.now() + 5000;
    while (generations.length < transactions && Date.now() < deadline) await nextTurn();
    assert.equal(generations.length, transactions);
  };
  try {
    await work({ socket, events, generations, nft, waitFor });
    assert.deepEqual(failures, []);
  } finally {
    monitor.close();
    socket.close();
    namespace.close();
  }
}

const withoutHandle = ({ object, ...event }: NftEvent): unknown => {
  if (object.kind === 'elements') return { ...event, object };
  const { handle, ...rest } = object;
  assert.equal(typeof handle, 'number');
  return { ...event, object: rest };
};

const ip = (address: string): Buffer => dataBytes(['ipv4_addr'], [address]);

test('KERNEL-11 reports the objects that nft changed, and its process', () =>
  inNamespace(async ({ socket, events, generations, nft, waitFor }) => {
    const pid = nft(
      'table ip t { set s { type ipv4_addr; elements = { 1.1.1.1 comment "one" }; }; chain c { accept comment "all"; }; }',
    );
    await waitFor(1);
    const where = { type: 'new', family: 'ip', table: 't' };
    assert.deepEqual(events.map(withoutHandle), [
      { ...where, object: { kind: 'table', family: 'ip', name: 't' } },
      { ...where, object: { kind: 'chain', name: 'c' } },
      { ...where, object: { kind: 'set', name: 's', type: ['ipv4_addr'] } },
      {
        ...where,
        object: { kind: 'elements', set: 's', elements: [{ kind: 'element', key: ip('1.1.1.1'), comment: 'one' }] },
      },
      {
        ...where,
        object: {
          kind: 'rule',
          chain: 'c',
          expressions: [{ kind: 'verdict', verdict: { kind: 'accept' } }],
          comment: 'all',
        },
      },
    ]);
    assert.deepEqual(generations, [{ kind: 'generation', id: socket.generation(), pid, process: 'nft' }]);
    events.length = 0;
    nft('flush set ip t s; flush chain ip t c; delete set ip t s; delete chain ip t c; delete table ip t');
    await waitFor(2);
    assert.deepEqual(
      events.map(({ type, object }) => `${type} ${object.kind}`),
      ['del elements', 'del rule', 'del set', 'del chain', 'del table'],
    );
  }));

test("KERNEL-11 the generation that a commit returns identifies the process's own transaction", () =>
  inNamespace(async ({ socket, events, generations, nft, waitFor }) => {
    const set: NftSet = { kind: 'set', name: 's', type: ['ipv4_addr'], flags: ['interval'] };
    nft('add table ip foreign');
    const transaction = new Transaction('ip', 't').add({ kind: 'table', family: 'ip', name: 't' }).add(set);
    const range = { kind: 'element', key: ip('10.0.0.0'), keyEnd: ip('10.255.255.255') } as const;
    const { generation } = await socket.commit(transaction.addElements(set, [range]));
    nft('delete table ip foreign');
    await waitFor(3);
    assert.equal(typeof generation, 'number');
    assert.deepEqual(
      generations.map(({ id }) => id === generation),
      [false, true, false],
    );
    assert.deepEqual(
      generations.map(({ process }) => process === 'nft'),
      [true, false, true],
    );
    const parts = events.flatMap(({ object }) => (object.kind === 'elements' ? object.elements : []));
    assert.deepEqual(parts, [
      { kind: 'element', key: ip('10.0.0.0') },
      { kind: 'element', key: ip('11.0.0.0'), intervalEnd: true },
    ]);
  }));
