import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nft } from '../../../test/support/nftables-mode.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { NftablesSocket, Transaction } from '../../kernel/nftables/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { DriftWatch } from './drift.ts';

test('NFT-7 a paused watch detects changes by other programs when it listens again, and ignores our own', async () => {
  const namespace = NetworkNamespace.create();
  const socket = NftablesSocket.open({ namespace });
  const reports: string[] = [];
  const watch = new DriftWatch({
    namespace,
    clock: systemClock,
    generation: () => socket.generation(),
    drifted: ({ cause }) => reports.push(cause),
    lost: cause => reports.push(cause),
  });
  const write = async (name: string) => {
    const transaction = new Transaction('ip', 'kube-proxy').add({ kind: 'table', family: 'ip', name: 'kube-proxy' });
    watch.noteOwn((await socket.commit(transaction.add({ kind: 'chain', name }))).generation);
  };
  try {
    await write('a');
    await write('b');
    watch.listen();
    watch.pause();
    await write('c');
    watch.listen();
    assert.deepEqual(reports, []);
    watch.pause();
    nft(namespace, 'add', 'chain', 'ip', 'kube-proxy', 'foreign');
    watch.listen();
    assert.deepEqual(reports, ['another program changed the ruleset while the watch was paused']);
    watch.pause();
    nft(namespace, 'delete', 'chain', 'ip', 'kube-proxy', 'foreign');
    await write('d');
    watch.listen();
    assert.equal(reports.length, 2, 'the watch detects the change although this process wrote after it');
    nft(namespace, 'add', 'chain', 'ip', 'kube-proxy', 'foreign');
    await waitFor('the third report', () => reports.length === 3);
  } finally {
    watch.close();
    socket.close();
    namespace.close();
  }
});
