import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { ModeHarness } from '../../../test/support/mode-harness.ts';
import { nft } from '../../../test/support/nftables-mode.ts';
import { service } from '../../../test/support/objects.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { NftablesSocket, Transaction } from '../../kernel/nftables/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { DriftWatch, type TableDrift } from './drift.ts';
import { NftablesMode } from './mode.ts';

/** Writes a script for nft: a transaction that changes a table of another program, and then ours. */
function floodScript(folder: string, change: string): string {
  const elements = Array.from({ length: 2000 }, (_, i) => `10.9.${i >> 8}.${i & 255}`).join(', ');
  const set = '{ type ipv4_addr; }';
  const flood = `add table ip foreign\nadd set ip foreign many ${set}\nadd element ip foreign many { ${elements} }`;
  const file = join(folder, 'flood');
  writeFileSync(file, `${flood}\n${change}\n`);
  return file;
}

test('NFT-7 the mode repairs its table although the kernel dropped the notification of the change', async () => {
  const namespace = NetworkNamespace.create();
  const folder = mkdtempSync(join(tmpdir(), 'overrun-'));
  const harness = new ModeHarness(events => new NftablesMode({ namespace, events, receiveBuffer: 4096 }));
  try {
    harness.setService(service('web', { clusterIP: '10.96.0.1' }));
    await harness.sync();
    nft(namespace, '-f', floodScript(folder, 'delete element ip kube-proxy cluster-ips { 10.96.0.1 }'));
    await waitFor('the repair', () => harness.events.lines.length > 0);
    assert.match(nft(namespace, 'list', 'set', 'ip', 'kube-proxy', 'cluster-ips'), /10\.96\.0\.1/);
    assert.deepEqual(harness.events.lines, [
      'repaired: the kernel dropped notifications; added element in cluster-ips ×1',
    ]);
    nft(namespace, 'delete', 'element', 'ip', 'kube-proxy', 'cluster-ips', '{ 10.96.0.1 }');
    await waitFor('the repair of the next change', () => harness.events.lines.length > 1);
    assert.match(harness.events.lines[1] ?? '', /^repaired: nft .* deleted 1 element of cluster-ips; added element/);
  } finally {
    await harness.close();
    rmSync(folder, { recursive: true });
    namespace.close();
  }
});

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
    nft(namespace, 'delete', 'chain', 'ip', 'kube-proxy', 'foreign');
    await write('e');
    watch.pause();
    await write('f');
    watch.listen();
    assert.equal(reports.length, 4, 'the pause discarded a notification from before the last write');
    await write('g');
    nft(namespace, 'add', 'chain', 'ip', 'kube-proxy', 'foreign');
    await write('h');
    await waitFor('the fifth report', () => reports.length === 5);
    watch.pause();
    await write('i');
    watch.listen();
    assert.equal(reports.length, 5, 'the watch had read all notifications before the pause');
  } finally {
    watch.close();
    socket.close();
    namespace.close();
  }
});

/** A watch that listens, whose time a test controls. */
class WatchTest {
  readonly namespace = NetworkNamespace.create();
  readonly clock = new ManualClock();
  readonly drifts: TableDrift[] = [];
  readonly lost: string[] = [];
  readonly #socket = NftablesSocket.open({ namespace: this.namespace });
  readonly watch = new DriftWatch({
    namespace: this.namespace,
    clock: this.clock,
    generation: () => this.#socket.generation(),
    drifted: drift => this.drifts.push(drift),
    lost: reason => this.lost.push(reason),
  });

  /** The sets of each reported drift, or `everything`. */
  changed(): readonly string[] {
    return this.drifts.map(({ sets }) => (sets ? [...sets].join() : 'everything'));
  }

  /** Another program runs nft. */
  nft(...words: readonly string[]): void {
    nft(this.namespace, ...words);
  }

  /** This process writes a chain. */
  async write(name: string): Promise<void> {
    const transaction = new Transaction('ip', 'kube-proxy').add({ kind: 'table', family: 'ip', name: 'kube-proxy' });
    this.watch.noteOwn((await this.#socket.commit(transaction.add({ kind: 'chain', name }))).generation);
  }

  /** Waits until the watch knows of a change. */
  async notified(): Promise<void> {
    await waitFor('a notification', () => this.clock.pending === 1);
  }

  close(): void {
    this.watch.close();
    this.#socket.close();
    this.namespace.close();
  }
}

async function withWatch(work: (it: WatchTest) => Promise<void>): Promise<void> {
  const it = new WatchTest();
  try {
    await it.write('own');
    it.nft('add', 'set', 'ip', 'kube-proxy', 'ips', '{ type ipv4_addr ; }');
    it.watch.restart();
    it.watch.listen();
    await work(it);
  } finally {
    it.close();
  }
}

test('NFT-7 changes that come together are reported once, 30 ms after the first', () =>
  withWatch(async it => {
    it.nft('add', 'element', 'ip', 'kube-proxy', 'ips', '{ 192.0.2.1 }');
    await it.notified();
    await it.clock.advance(29);
    assert.deepEqual(it.changed(), []);
    await it.clock.advance(1);
    assert.deepEqual(it.changed(), ['ips']);
  }));

test('NFT-7 a change of more than elements concerns the whole table', () =>
  withWatch(async it => {
    it.nft('add chain ip kube-proxy foreign ; add element ip kube-proxy ips { 192.0.2.1 }');
    await it.notified();
    await it.clock.advance(30);
    assert.deepEqual(it.changed(), ['everything']);
  }));

test('NFT-7 our own changes are no drift, and do not widen the drift of another program', () =>
  withWatch(async it => {
    for (const name of ['a', 'b', 'c']) await it.write(name);
    await it.notified();
    await it.clock.advance(30);
    assert.deepEqual(it.changed(), []);
    await it.write('d');
    it.nft('add', 'element', 'ip', 'kube-proxy', 'ips', '{ 192.0.2.1 }');
    await it.notified();
    // The second notification has the first one's timer, so nothing else shows that it came.
    await new Promise(resolve => setTimeout(resolve, 50));
    await it.clock.advance(30);
    assert.deepEqual(it.changed(), ['ips']);
  }));

test('NFT-7 a closed watch has no timer', () =>
  withWatch(async it => {
    it.nft('add', 'chain', 'ip', 'kube-proxy', 'foreign');
    await it.notified();
    it.watch.close();
    assert.equal(it.clock.pending, 0);
  }));

test('NFT-7 a restarted watch ignores what it missed, because the writers read everything', () =>
  withWatch(async it => {
    it.watch.pause();
    it.nft('add', 'chain', 'ip', 'kube-proxy', 'foreign');
    await it.write('e');
    it.watch.restart();
    it.watch.listen();
    assert.deepEqual(it.lost, []);
  }));

test('NFT-7 after its socket failed, the watch listens again', t =>
  withWatch(async it => {
    t.mock.method(it.clock, 'setTimer', () => assert.fail('kaputt'), { times: 1 });
    it.nft('add', 'chain', 'ip', 'kube-proxy', 'foreign');
    await waitFor('the failure', () => it.lost.length > 0);
    assert.deepEqual(it.lost, ['kaputt']);
    it.watch.listen();
    it.nft('add', 'element', 'ip', 'kube-proxy', 'ips', '{ 192.0.2.1 }');
    await it.notified();
  }));
