import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { NetworkNamespace } from '../src/kernel/netns.ts';
import { generation, nft } from './support/nftables-mode.ts';
import { runIn } from './support/run-in.ts';
import { waitFor } from './support/wait-for.ts';

const FLAGS = [
  '--hostname-override',
  'node-a',
  '--cluster-cidr',
  '10.244.0.0/16,fd00:10:244::/48',
  '--proxy-mode',
  'nftables',
];

/** The program itself in a network namespace, and its log. */
class Program {
  readonly #child: ChildProcess;
  #log = '';

  constructor(namespace: NetworkNamespace, ...args: string[]) {
    this.#child = namespace.run(() =>
      spawn('bin/kube-proxy', [...args, '--inspect-socket='], { stdio: ['ignore', 'ignore', 'pipe'] }),
    );
    this.#child.stderr?.on('data', data => {
      this.#log += data;
    });
  }

  async untilLogged(words: string): Promise<void> {
    const isLogged = () => this.#log.includes(words);
    await waitFor(`the program logs "${words}"`, isLogged, { timeoutMs: 20_000, details: () => this.#log });
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal);
    const [status] = this.#child.exitCode === null ? await once(this.#child, 'exit') : [this.#child.exitCode];
    return status;
  }
}

function kubeProxy(namespace: NetworkNamespace, ...args: string[]) {
  const { status, stdout } = run(namespace, ...args);
  return { status, stdout };
}

function run(namespace: NetworkNamespace, ...args: string[]) {
  return namespace.run(() => spawnSync('bin/kube-proxy', args, { encoding: 'utf8' }));
}

test('START-10 the text of the program has only ASCII characters', () => {
  const [other] = /[^\0-\x7f].{0,40}/u.exec(readFileSync('build/kube-proxy.mjs', 'utf8')) ?? [];
  assert.equal(other, undefined);
});

test('CLI-3 NFT-16 START-12 the program follows its manifests, a second one waits for its end, its rules stay, cleanup removes them', async () => {
  const namespace = NetworkNamespace.create();
  const folder = mkdtempSync(join(tmpdir(), 'program-'));
  const programs: Program[] = [];
  const start = () => {
    const program = new Program(namespace, '--manifests', folder, ...FLAGS);
    programs.push(program);
    return program;
  };
  const has = (address: string) =>
    nft(namespace, 'list', 'map', 'ip', 'kube-proxy', 'service-numbers').includes(address);
  try {
    cpSync('examples', folder, { recursive: true });
    const first = start();
    await first.untilLogged('"Synced all service ports" ipFamily="IPv6"');
    assert.ok(has('10.96.0.10 . tcp . 80'));
    assert.deepEqual(kubeProxy(namespace, 'plan', '--manifests', folder, ...FLAGS, '--diff'), {
      status: 0,
      stdout: 'no difference\n',
    });

    const web = readFileSync(join(folder, 'web.yaml'), 'utf8');
    writeFileSync(join(folder, 'web.yaml'), web.replace('10.96.0.10', '10.96.0.11'));
    await waitFor('the edited manifest is programmed', () => has('10.96.0.11 . tcp . 80'), { timeoutMs: 5000 });
    assert.ok(!has('10.96.0.10 . tcp . 80'));

    const second = start();
    await second.untilLogged('waiting until it ends');
    const before = generation(namespace);
    assert.equal(await first.end('SIGTERM'), 0);
    await second.untilLogged('"Synced all service ports" ipFamily="IPv6"');
    assert.equal(generation(namespace), before, 'the second program changed the rules');
    assert.equal(await second.end('SIGINT'), 0);
    assert.ok(has('10.96.0.11 . tcp . 80'));

    nft(namespace, 'add', 'table', 'ip', 'other');
    const { status, stdout } = kubeProxy(namespace, 'cleanup');
    assert.deepEqual([status, stdout], [0, 'removed table ip kube-proxy\nremoved table ip6 kube-proxy\n']);
    assert.equal(nft(namespace, 'list', 'tables'), 'table ip other\n');
    const rules = kubeProxy(namespace, 'plan', '--manifests', folder, ...FLAGS, '--rules').stdout;
    assert.match(rules, /^# one transaction of table ip kube-proxy\nadd table ip kube-proxy/);
    assert.match(rules, /add element ip6 kube-proxy service-numbers \{ fd00:10:96::53 \. udp \. 53/);
  } finally {
    for (const program of programs) await program.end('SIGKILL');
    rmSync(folder, { recursive: true });
    namespace.close();
  }
});

test('CLI-21 status reports a running program, and its end', async () => {
  const namespace = NetworkNamespace.create();
  runIn(namespace, 'ip', ['link', 'set', 'lo', 'up']);
  // Without a socket, status asks the servers.
  const program = new Program(namespace, '--manifests', 'examples', ...FLAGS);
  try {
    await program.untilLogged('"Synced all service ports" ipFamily="IPv6"');
    const { status, stdout } = kubeProxy(namespace, 'status');
    assert.equal(status, 0, stdout);
    assert.match(stdout, /^✓ The proxy of node node-a is healthy\n {2}version +Pointsman, Kubernetes v/);
    assert.match(stdout, /^ {2}mode +nftables$/m);
    assert.match(stdout, /^ {2}IPv4 +last sync \d+ s ago, 7 service ports programmed, 0 set aside$/m);
    assert.equal(await program.end('SIGTERM'), 0);
    const gone = kubeProxy(namespace, 'status');
    assert.equal(gone.status, 2);
    assert.match(gone.stdout, /^\? No proxy answers at 127\.0\.0\.1:10256: the connection is refused\n/);
  } finally {
    await program.end('SIGKILL');
    namespace.close();
  }
});

test('CLI-17 cleanup prints one line for each object that stays, and ends with status 1 until nothing stays', () => {
  const namespace = NetworkNamespace.create();
  const iptables = (...args: string[]) => runIn(namespace, 'iptables', args);
  const set = ['INPUT', '-m', 'set', '--match-set', 'KUBE-CLUSTER-IP', 'src', '-j', 'ACCEPT'];
  try {
    runIn(namespace, 'ip', ['link', 'add', 'kube-ipvs0', 'type', 'bridge']);
    runIn(namespace, 'ipset', ['create', 'KUBE-CLUSTER-IP', 'hash:ip']);
    runIn(namespace, 'ipset', ['create', 'KUBE-LOOP-BACK', 'hash:ip']);
    // Chains of ipvs mode and of iptables mode, which both use KUBE-MARK-MASQ.
    for (const chain of ['KUBE-MARK-MASQ', 'KUBE-SERVICES', 'KUBE-NODE-PORT', 'KUBE-SVC-ABCDEFGHIJKLMNOP', 'MINE']) {
      iptables('-t', 'nat', '-N', chain);
    }
    for (const chain of ['KUBE-NODE-PORT', 'KUBE-SVC-ABCDEFGHIJKLMNOP']) {
      iptables('-t', 'nat', '-A', chain, '-j', 'KUBE-MARK-MASQ');
    }
    iptables('-t', 'nat', '-A', 'MINE', '-j', 'KUBE-SERVICES');
    iptables('-A', ...set);
    const first = run(namespace, 'cleanup');
    assert.equal(first.status, 1);
    assert.deepEqual(first.stderr.trimEnd().split('\n'), [
      'left set KUBE-CLUSTER-IP: a rule of another program uses it: ' +
        'delete that rule (iptables-save | grep -w -- KUBE-CLUSTER-IP), then run the cleanup again',
      'left link kube-ipvs0: it is of kind bridge, but kube-proxy makes it of kind dummy: ' +
        'if no other program needs it, delete it (ip link del kube-ipvs0)',
      'left chain KUBE-SERVICES of nat (IPv4, nf_tables): rules of other programs jump to it: ' +
        'delete these rules (iptables-save -t nat | grep -w -- KUBE-SERVICES), then run the cleanup again',
    ]);
    assert.match(first.stdout, /^removed 1 set$/m);
    assert.doesNotMatch(runIn(namespace, 'iptables-save'), /KUBE-(?:MARK|NODE|SVC)/);
    iptables('-t', 'nat', '-F', 'MINE');
    iptables('-D', ...set);
    runIn(namespace, 'ip', ['link', 'del', 'kube-ipvs0']);
    assert.deepEqual(kubeProxy(namespace, 'cleanup'), {
      status: 0,
      stdout: 'removed 1 set\nremoved 1 chains of nat (IPv4, nf_tables)\n',
    });
    assert.deepEqual(kubeProxy(namespace, 'cleanup'), { status: 0, stdout: 'nothing to remove\n' });
  } finally {
    namespace.close();
  }
});

test('CLI-2 the program prints everything before it exits, even if its reader is slow', () => {
  const command = `bin/kube-proxy plan --manifests test/cases/large-cluster/objects.yaml ${FLAGS.join(' ')} --rules`;
  const print = (target: string) =>
    spawnSync('sh', ['-c', `${command} ${target}`], { encoding: 'utf8', maxBuffer: 8 << 20 }).stdout;
  const folder = mkdtempSync(join(tmpdir(), 'program-'));
  try {
    const file = join(folder, 'rules');
    print(`> ${file}`);
    const whole = readFileSync(file, 'utf8');
    assert.ok(whole.length > 100_000, 'a pipe holds 64 KiB');
    assert.equal(print('| (sleep 1; cat)').length, whole.length);
    assert.equal(print('| head -n 1'), `${whole.split('\n')[0]}\n`, 'a reader may also end early');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('IPT-14 after a change of the mode only the rules of the last mode are left', async () => {
  const namespace = NetworkNamespace.create();
  const programs: Program[] = [];
  const start = async (mode: string) => {
    const program = new Program(namespace, '--manifests', 'examples', ...FLAGS, '--proxy-mode', mode);
    programs.push(program);
    await program.untilLogged('"Synced all service ports" ipFamily="IPv6"');
    return program;
  };
  const hasNft = () => nft(namespace, 'list', 'tables').includes('kube-proxy');
  const hasIptables = () => runIn(namespace, 'iptables-save').includes(':KUBE-SERVICES');
  try {
    await (await start('nftables')).end('SIGTERM');
    assert.deepEqual([hasNft(), hasIptables()], [true, false]);
    await (await start('iptables')).end('SIGTERM');
    assert.deepEqual([hasNft(), hasIptables()], [false, true]);
    assert.ok(runIn(namespace, 'iptables-save').includes('-d 10.96.0.10/32'));
    await (await start('nftables')).end('SIGTERM');
    assert.deepEqual([hasNft(), hasIptables()], [true, false]);
    await (await start('iptables')).end('SIGTERM');
    assert.match(kubeProxy(namespace, 'cleanup').stdout, /^removed \d+ chains of nat \(IPv4, nf_tables\)\n/);
    assert.deepEqual([hasNft(), hasIptables()], [false, false]);
    assert.deepEqual(kubeProxy(namespace, 'cleanup'), { status: 0, stdout: 'nothing to remove\n' });
  } finally {
    await Promise.all(programs.map(program => program.end('SIGKILL')));
    namespace.close();
  }
});

// The kernel of this machine has no ip_vs: the guest tests try --diff in ipvs mode.
for (const mode of ['nftables', 'iptables', 'userspace']) {
  test(`MODE-9 plan --diff in ${mode} mode prints everything before the start, nothing after it, and then what changed`, async () => {
    const namespace = NetworkNamespace.create();
    const flags = ['--manifests', 'examples', ...FLAGS.slice(0, 4), '--proxy-mode', mode];
    let program: Program | undefined;
    try {
      const before = kubeProxy(namespace, 'plan', ...flags, '--diff');
      assert.equal(before.status, 1);
      assert.match(before.stdout, /10\.96\.0\.60/);
      program = new Program(namespace, ...flags);
      await program.untilLogged('"Synced all service ports" ipFamily="IPv6"');
      assert.deepEqual(kubeProxy(namespace, 'plan', ...flags, '--diff'), { status: 0, stdout: 'no difference\n' });
    } finally {
      await program?.end('SIGTERM');
      namespace.close();
    }
  });
}
