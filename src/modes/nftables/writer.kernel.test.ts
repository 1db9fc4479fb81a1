import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { modeSettingsFor } from '../../../test/support/mode-harness.ts';
import { canonicalRuleset, nft } from '../../../test/support/nftables-mode.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { KernelError } from '../../kernel/errors.ts';
import { NetworkNamespace } from '../../kernel/netns.ts';
import { BatchError, type Commit, NftablesSocket, type Transaction } from '../../kernel/nftables/index.ts';
import { Model } from '../../model/index.ts';
import type { Ip } from '../../net/index.ts';
import { Planner } from '../../plan/index.ts';
import { SILENT_EVENTS } from '../mode.ts';
import { PlanBook } from '../plan-book.ts';
import { setAsideName } from '../set-aside.ts';
import { kernelTable } from './kernel-state/table-access.ts';
import { previewNftables } from './preview.ts';
import { layoutOf } from './table/layout.ts';
import { NftablesWriter } from './writer.ts';

/** A table whose commits a test can make fail. */
class Harness {
  readonly namespace = NetworkNamespace.create();
  readonly socket: NftablesSocket;
  readonly model = new Model({ family: 'IPv4', nodeName: 'node-a', startedAt: 0, report: () => {} });
  readonly planner = new Planner(this.model, {
    node: { name: 'node-a', zone: '' },
    nodeIP: '192.168.0.2' as Ip,
    localDetector: undefined,
    masqueradeAll: false,
    allowExternalIPs: true,
  });
  /** Called before each commit. The commit fails with the error that it throws. */
  before: (transaction: Transaction) => void = () => {};
  /** Called after each commit. */
  after: (transaction: Transaction) => void = () => {};
  commits = 0;
  readonly book = new PlanBook('IPv4');
  readonly writer: NftablesWriter;
  /** The error codes of the commits that failed. */
  readonly failures: string[] = [];

  constructor(receiveBuffer?: number) {
    this.socket = NftablesSocket.open({ namespace: this.namespace, receiveBuffer });
    this.writer = new NftablesWriter(
      layoutOf('IPv4'),
      modeSettingsFor('IPv4'),
      kernelTable(this.socket, layoutOf('IPv4'), transaction => this.#commit(transaction)),
      this.book,
      SILENT_EVENTS,
    );
  }

  add(count: number): void {
    for (let i = 0; i < count; i++) {
      this.model.setService(service(`s${i}`, { clusterIP: `10.96.${i >> 8}.${i & 255}` }));
      this.model.setEndpointSlice(slice(`s${i}-1`, [`10.244.${i >> 8}.${i & 255}`]));
    }
  }

  /** Writes what changed. A partial write is followed by a full one if the writer needs it, as in the shell. */
  async write(): Promise<void> {
    this.book.take(this.planner.update(this.model.take()));
    if ((await this.writer.write()) === 'needs-full-write') await this.writer.write();
  }

  /** Reads the table and writes what differs. */
  async adopt(): Promise<void> {
    await this.writer.repair({ cause: 'a test' });
  }

  async preview(against: 'nothing' | 'kernel'): Promise<string> {
    const { namespace } = this;
    const plans = [...this.planner.plans()];
    return previewNftables({}, { family: 'IPv4', plans, settings: modeSettingsFor('IPv4'), against, namespace });
  }

  get programmed(): number {
    return nft(this.namespace, 'list', 'map', 'ip', 'kube-proxy', 'service-numbers').match(/: 0x/g)?.length ?? 0;
  }

  close(): void {
    this.socket.close();
    this.namespace.close();
  }

  async #commit(transaction: Transaction): Promise<Commit> {
    this.commits++;
    this.before(transaction);
    const commit = await this.socket.commit(transaction).catch(error => {
      this.failures.push(error.code);
      throw error;
    });
    this.after(transaction);
    return commit;
  }
}

async function withTable(work: (harness: Harness) => Promise<void>, receiveBuffer?: number): Promise<void> {
  const harness = new Harness(receiveBuffer);
  try {
    await work(harness);
  } finally {
    harness.close();
  }
}

const once = (error: Error) => {
  let thrown = false;
  return () => {
    if (thrown) return;
    thrown = true;
    throw error;
  };
};

/** One answer overruns it. The kernel makes it a little larger. */
const TINY_BUFFER = 1;

describe('failed transactions', () => {
  test('NFT-11 if the answer of the kernel is lost, the writer reads the table again and corrects it', () =>
    withTable(async harness => {
      harness.add(3);
      await harness.write();
      harness.add(5);
      // The transaction is committed, but its answer is lost.
      harness.after = once(new KernelError('KERNEL_OVERRUN', { operation: 'receive', errno: 'ENOBUFS' }));
      await harness.write();
      assert.equal(harness.programmed, 5);
      assert.deepEqual(harness.book.setAside(), []);
    }));

  test('NFT-11 if the kernel drops the answer of every commit, each write ends with the wanted table', () =>
    withTable(async harness => {
      harness.add(3);
      await harness.write();
      harness.failures.splice(0);
      harness.add(700);
      await harness.write();
      assert.deepEqual(harness.failures, ['KERNEL_OVERRUN'], 'the adoption found nothing to write');
      assert.equal(harness.programmed, 700);
      assert.deepEqual(harness.book.setAside(), []);
      assert.equal(await harness.preview('kernel'), '');
    }, TINY_BUFFER));

  test('NFT-11 if the kernel refuses a commit and drops its answers, the writer reads the table again', () =>
    withTable(async harness => {
      harness.add(2000);
      await harness.write();
      harness.failures.splice(0);
      // The kernel refuses every message about a table that is gone, each with an answer of its own.
      nft(harness.namespace, 'delete', 'table', 'ip', 'kube-proxy');
      for (let i = 1; i < 2000; i++) harness.model.deleteService(`default/s${i}`);
      await harness.write();
      assert.equal(harness.failures[0], 'KERNEL_OVERRUN');
      assert.equal(harness.programmed, 1);
      assert.deepEqual(harness.book.setAside(), []);
      assert.equal(await harness.preview('kernel'), '');
    }, TINY_BUFFER));

  for (const errno of ['ENOMEM', 'EPERM', 'ENOBUFS']) {
    test(`NFT-11 with ${errno} a write fails and sets no Service aside, and the next write succeeds`, () =>
      withTable(async harness => {
        harness.add(4);
        harness.before = () => {
          throw new KernelError('KERNEL_REFUSED', { operation: 'commit', errno });
        };
        await assert.rejects(harness.write(), { errno });
        harness.before = () => {};
        await harness.write();
        assert.equal(harness.programmed, 4);
        assert.deepEqual(harness.book.setAside(), []);
      }));
  }

  for (const errno of ['EBUSY', 'ENOSPC', 'EINVAL']) {
    test(`NFT-8 the writer finds the refused Service by halving if ${errno} names no object`, () =>
      withTable(async harness => {
        harness.add(2);
        await harness.write();
        harness.add(40);
        const isBad = (transaction: Transaction) => transaction.toString().includes('10.96.0.23 ');
        harness.before = transaction => {
          if (isBad(transaction)) throw new BatchError('KERNEL_REFUSED', { operation: 'commit', errno }, []);
        };
        await harness.write();
        assert.deepEqual(harness.book.setAside().map(setAsideName), ['default/s23']);
        assert.equal(harness.programmed, 39);
        assert.ok(harness.commits < 25, `${harness.commits} commits`);
      }));
  }

  test('NFT-11 the writer writes everything again if another program flushes the ruleset during the first write', () =>
    withTable(async harness => {
      harness.add(4200);
      let flushed = false;
      harness.after = transaction => {
        if (flushed || !transaction.toString().includes('service-numbers')) return;
        if (harness.commits < 3) return;
        flushed = true;
        nft(harness.namespace, 'flush', 'ruleset');
      };
      await harness.write().catch(() => harness.write());
      assert.ok(flushed);
      assert.equal(harness.programmed, 4200);
      assert.deepEqual(harness.book.setAside(), []);
    }));
});

describe('programs that change other tables', () => {
  const folder = mkdtempSync(join(tmpdir(), 'crowded-'));
  after(() => rmSync(folder, { recursive: true }));

  test('NFT-11 the writer adopts its table while another program changes its own all the time', () =>
    withTable(async harness => {
      harness.add(100);
      await harness.write();
      // The kernel lists so many chains in several answers. The ruleset can change between them.
      const chains = Array.from({ length: 3000 }, (_, i) => `add chain ip crowded chain${i}\n`).join('');
      writeFileSync(join(folder, 'crowded'), `add table ip crowded\n${chains}`);
      nft(harness.namespace, '-f', join(folder, 'crowded'));
      const script = 'for i in $(seq 400); do nft add table ip busy; nft delete table ip busy; done';
      const busy = harness.namespace.run(() => spawn('/bin/sh', ['-c', script], { stdio: 'ignore' }));
      try {
        nft(harness.namespace, 'delete', 'element', 'ip', 'kube-proxy', 'cluster-ips', '{ 10.96.0.1 }');
        for (let i = 0; i < 5; i++) await harness.adopt();
        assert.equal(busy.exitCode, null, 'the other program was still running');
      } finally {
        busy.kill('SIGKILL');
      }
      await harness.adopt();
      assert.deepEqual(harness.book.setAside(), []);
      assert.match(nft(harness.namespace, 'list', 'set', 'ip', 'kube-proxy', 'cluster-ips'), /10\.96\.0\.1,/);
    }));
});

describe('a first write in parts', () => {
  test('NFT-4 the first part has DNS and the API server, wherever they are among the Services', () =>
    withTable(async harness => {
      harness.add(4200);
      harness.model.setService(
        service('kube-system/dns', { clusterIP: '10.99.0.53', ports: [{ protocol: 'UDP', port: 53 }] }),
      );
      harness.model.setService(service('default/kubernetes', { clusterIP: '10.99.0.1', ports: [{ port: 443 }] }));
      const parts: string[] = [];
      harness.after = transaction => parts.push(String(transaction));
      await harness.write();
      const first = parts[1] ?? '';
      assert.equal(parts.length, 4, 'one transaction for the fixed part and three for Services');
      assert.match(first, /10\.99\.0\.53 \. udp \. 53 comment "kube-system\/dns"/);
      assert.match(first, /10\.99\.0\.1 \. tcp \. 443 comment "default\/kubernetes"/);
    }));
});

describe('taking over a table that is in use', () => {
  /** A table of upstream: one Service with its chain, and the program around it. */
  const UPSTREAM = `table ip kube-proxy {
  map service-ips { type ipv4_addr . inet_proto . inet_service : verdict; }
  set cluster-ips { type ipv4_addr; elements = { 10.96.0.1 } }
  chain service-ULMVA6XW-ns1/svc1/tcp/p80 {
    meta l4proto tcp dnat ip addr . port to numgen random mod 2 map { 0 : 10.180.0.1 . 80, 1 : 10.180.0.2 . 80 }
  }
  chain services { ip daddr . meta l4proto . th dport vmap @service-ips; }
  chain nat-output { type nat hook output priority -100; jump services; }
}
add element ip kube-proxy service-ips { 172.30.0.41 . tcp . 80 : goto service-ULMVA6XW-ns1/svc1/tcp/p80 }
`;
  /** As an older version of the mode wrote it: the map has a name of upstream, and another type. */
  const OLDER = `table ip kube-proxy {
  map service-ips { type ipv4_addr . inet_proto . inet_service : mark; elements = { 10.96.0.1 . tcp . 80 : 1 } }
  chain services { meta mark set ip daddr . meta l4proto . th dport map @service-ips; }
  chain nat-output { type nat hook output priority -100; jump services; }
}
`;

  async function takeOver(script: string, services: number): Promise<readonly string[]> {
    const transactions: string[] = [];
    await withTable(async harness => {
      harness.namespace.run(() => execFileSync('nft', ['-f', '-'], { input: script }));
      harness.add(services);
      harness.after = transaction => transactions.push(String(transaction));
      await harness.write();
      assert.equal(harness.programmed, services);
    });
    return transactions;
  }

  test("NFT-6 upstream's chains steer packets until the transaction that changes all of them", async () => {
    const transactions = await takeOver(UPSTREAM, 4200);
    const last = transactions.at(-1) ?? '';
    const isSteering = /(?:flush|add) (?:chain|rule) ip kube-proxy (?:services|nat-output|masquerading)\b/;
    assert.equal(transactions.length, 5);
    assert.deepEqual(
      transactions.map(transaction => isSteering.test(transaction)),
      [false, false, false, false, true],
    );
    assert.match(last, /flush chain ip kube-proxy services\n/);
    assert.match(last, /delete element ip kube-proxy service-ips \{ 172\.30\.0\.41 \. tcp \. 80 \}/);
  });

  test('NFT-6 a table whose sets have other types is replaced in one transaction with all Services', async () => {
    const [only = '', ...more] = await takeOver(OLDER, 4200);
    assert.deepEqual(more, []);
    assert.match(only, /^add table ip kube-proxy\ndelete table ip kube-proxy\nadd table ip kube-proxy /);
    assert.match(only, /add rule ip kube-proxy services /);
    assert.equal(only.match(/add element ip kube-proxy service-numbers/g)?.length, 4200);
  });

  test('NFT-6 if the kernel refuses the fixed part of a table that is replaced, no Service is set aside', () =>
    withTable(async harness => {
      harness.namespace.run(() => execFileSync('nft', ['-f', '-'], { input: OLDER }));
      harness.add(3);
      const detail = { operation: 'add chain', errno: 'ENOENT' };
      harness.before = ({ commands }) => {
        const command = commands.find(({ object }) => object.kind === 'chain' && object.name === 'services');
        if (!command) return;
        const failure = { command, error: new KernelError('KERNEL_REFUSED', detail) };
        throw new BatchError('KERNEL_REFUSED', detail, [failure]);
      };
      await assert.rejects(harness.write(), /^Error: the fixed part of the table: add chain: ENOENT/);
      assert.deepEqual(harness.book.setAside(), []);
      assert.equal(harness.commits, 1);
    }));

  test('NFT-20 only maps that upstream cleans up hold chains that upstream deletes', () =>
    withTable(async harness => {
      const sticky = { sessionAffinity: 'ClientIP', ports: [{ nodePort: 30001 }] } as const;
      harness.model.setService(service('sticky', { clusterIP: '10.96.0.1', ...sticky }));
      harness.model.setEndpointSlice(slice('sticky-1', ['10.244.1.1', '10.244.1.2', '10.244.1.3']));
      harness.add(1);
      await harness.write();
      const maps = nft(harness.namespace, 'list', 'maps')
        .split(/^\tmap /m)
        .slice(1);
      const holding = maps.filter(map => /goto \S+\//.test(map)).map(map => map.split(' ')[0]);
      assert.deepEqual(holding.sort(), ['service-ips', 'service-nodeports']);
      const chains = nft(harness.namespace, 'list', 'table', 'ip', 'kube-proxy');
      assert.match(
        chains,
        /numgen random mod 3 0 goto endpoint-\S+\n\t*numgen random mod 2 0 goto endpoint-\S+\n\t*goto endpoint-/,
      );
    }));
});

describe('preview', () => {
  test('NFT-12 the preview of a first start is exactly what the first start then writes', () =>
    withTable(async harness => {
      harness.add(3);
      harness.book.take(harness.planner.update(harness.model.take()));
      const scripts = await harness.preview('nothing');
      assert.equal(harness.commits, 0);
      assert.match(
        scripts,
        /add element ip kube-proxy service-numbers \{ 10\.96\.0\.2 \. tcp \. 80 comment "default\/s2" : 0x10001000 \}/,
      );
      const written: string[] = [];
      harness.after = transaction => written.push(`# one transaction of table ip kube-proxy\n${transaction}`);
      await harness.adopt();
      assert.equal(written.join('\n'), scripts);
    }));

  test('NFT-12 the preview against the kernel is what the table lacks, and empty if it lacks nothing', () =>
    withTable(async harness => {
      harness.add(3);
      await harness.write();
      assert.equal(await harness.preview('kernel'), '');
      nft(harness.namespace, 'delete', 'element', 'ip', 'kube-proxy', 'cluster-ips', '{ 10.96.0.1 }');
      const before = canonicalRuleset(harness.namespace);
      const script = '# one transaction of table ip kube-proxy\nadd element ip kube-proxy cluster-ips { 10.96.0.1 }\n';
      assert.equal(await harness.preview('kernel'), script);
      assert.equal(canonicalRuleset(harness.namespace), before);
    }));
});
