import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nft, until } from '../../../test/support/nftables-mode.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { NftablesSocket, Transaction } from '../../kernel/nftables/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { DriftWatch } from './drift.ts';

test('NFT-7 a change by others while nobody listens is noticed on listening again; our own are not', async () => {
  const namespace = NetworkNamespace.create();
  const socket = NftablesSocket.open({ namespace });
  const told: string[] = [];
  const watch = new DriftWatch({
    namespace,
    clock: systemClock,
    generation: () => socket.generation(),
    drifted: ({ what }) => told.push(what),
    lost: reason => told.push(reason),
  });
  const write = async (name: string) => {
    const transaction = new Transaction('ip', 'kube-proxy').add({ kind: 'table', family: 'ip', name: 'kube-proxy' });
    watch.own((await socket.commit(transaction.add({ kind: 'chain', name }))).generation);
  };
  try {
    await write('a');
    await write('b');
    watch.listen();
    watch.pause();
    await write('c');
    watch.listen();
    assert.deepEqual(told, []);
    watch.pause();
    nft(namespace, 'add', 'chain', 'ip', 'kube-proxy', 'foreign');
    watch.listen();
    assert.deepEqual(told, ['something changed while nobody listened']);
    watch.pause();
    nft(namespace, 'delete', 'chain', 'ip', 'kube-proxy', 'foreign');
    await write('d');
    watch.listen();
    assert.equal(told.length, 2, 'also when a write of ours came after it');
    nft(namespace, 'add', 'chain', 'ip', 'kube-proxy', 'foreign');
    assert.ok(await until(() => told.length === 3, 2000));
  } finally {
    watch.close();
    socket.close();
    namespace.close();
  }
});
