import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, describe, test } from 'node:test';
import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { runIn } from '../support/run-in.ts';
import { type ContainerOptions, Containers } from './container.ts';

describe('the programs of the default image', () => {
  let containers: Containers;
  let namespace: NetworkNamespace;

  before(() => {
    containers = new Containers('pointsman');
  });

  after(() => containers?.close());

  beforeEach(() => {
    namespace?.close();
    namespace = NetworkNamespace.create();
  });

  after(() => namespace?.close());

  function run(args: readonly string[], more: Partial<ContainerOptions> = {}) {
    return containers.run({ namespace, args, privileged: true, ...more });
  }

  function shell(script: string, more: Partial<ContainerOptions> = {}) {
    return run(['sh', '-c', script], more);
  }

  test('REL-4 kube-proxy is at both paths, and the tools for every mode start', () => {
    const script = `/usr/local/bin/kube-proxy --version && /usr/bin/kube-proxy --version && nft --version &&
      iptables --version && ip6tables --version && iptables-legacy --version && ipset --version && conntrack --version &&
      /bin/bash --version && /sbin/modprobe --version && command -v ipvsadm && ls / | grep -c . && ps && echo all`;
    const { status, stdout, stderr } = shell(script);
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, /^Kubernetes v.*\nKubernetes v.*\nnftables v/);
    assert.match(stdout, /all\n$/);
  });

  const hints: readonly [backend: string, program: string, chain: string][] = [
    ['nf_tables', 'iptables-nft', 'KUBE-IPTABLES-HINT'],
    ['nf_tables', 'ip6tables-nft', 'KUBE-KUBELET-CANARY'],
    ['legacy', 'iptables-legacy', 'KUBE-KUBELET-CANARY'],
    ['legacy', 'ip6tables-legacy', 'KUBE-IPTABLES-HINT'],
  ];
  for (const [backend, program, chain] of hints) {
    test(`REL-5 iptables uses ${backend} if the kubelet made ${chain} with ${program}`, () => {
      runIn(namespace, program, ['-t', 'mangle', '-N', chain]);
      // More rules in the other backend do not matter.
      const other = backend === 'legacy' ? 'iptables-nft' : 'iptables-legacy';
      for (const port of ['1', '2', '3']) runIn(namespace, other, ['-A', 'INPUT', '-p', 'tcp', '--dport', port]);
      const { stdout } = shell('iptables --version; ip6tables-restore --version; readlink /usr/sbin/iptables-save');
      const link = `xtables-${backend === 'legacy' ? 'legacy' : 'nft'}-multi`;
      assert.match(
        stdout,
        new RegExp(`^iptables v.* \\(${backend}\\)\nip6tables-restore v.* \\(${backend}\\)\n${link}\n$`),
      );
    });
  }

  test('REL-5 without the kubelet’s chains the backend with more rules counts, and nf_tables if both have none', () => {
    assert.match(shell('iptables --version').stdout, /nf_tables/);
    runIn(namespace, 'iptables-legacy', ['-A', 'INPUT', '-p', 'tcp']);
    assert.match(shell('iptables --version').stdout, /legacy/);
    for (const port of ['1', '2']) runIn(namespace, 'iptables-nft', ['-A', 'INPUT', '-p', 'tcp', '--dport', port]);
    assert.match(shell('iptables --version').stdout, /nf_tables/);
  });

  test('REL-5 the choice creates no table', () => {
    assert.equal(shell('iptables --version').status, 0);
    assert.equal(runIn(namespace, 'nft', ['list', 'tables']), '');
    assert.equal(runIn(namespace, 'cat', ['/proc/thread-self/net/ip_tables_names']), '');
  });

  test('REL-5 with a read-only file system every call finds the backend again', () => {
    runIn(namespace, 'iptables-legacy', ['-t', 'mangle', '-N', 'KUBE-IPTABLES-HINT']);
    const { stdout } = shell('iptables --version; iptables-save -t mangle', { readOnlyRoot: true });
    assert.match(stdout, /^iptables v.* \(legacy\)\n[\s\S]*KUBE-IPTABLES-HINT/);
  });

  test('REL-6 go-runner passes the exit status on, and writes both streams to its log file', () => {
    const folder = containers.folder('logs');
    const mounts = [{ source: folder, destination: '/logs' }];
    const log = () => readFileSync(`${folder}/log`, 'utf8');
    const program = ['sh', '-c', 'echo out; echo err >&2; exit 7'];
    const plain = run(['/go-runner', ...program], { mounts });
    assert.deepEqual([plain.status, plain.stdout, plain.stderr], [7, 'out\nerr\n', '']);
    const toFile = run(['/go-runner', '--log-file=/logs/log', ...program], { mounts });
    assert.deepEqual([toFile.status, toFile.stdout, toFile.stderr], [7, '', '']);
    assert.equal(log(), 'out\nerr\n');
    const both = run(['/go-runner', '-log-file', '/logs/log', '--also-stdout=true', ...program], { mounts });
    assert.deepEqual([both.status, both.stdout, both.stderr], [7, 'out\nerr\n', '']);
    assert.equal(log(), 'out\nerr\nout\nerr\n');
    const apart = ['/go-runner', '--log-file=/logs/log', '--also-stdout', '--redirect-stderr=false', '--', ...program];
    const separate = run(apart, { mounts });
    assert.deepEqual([separate.status, separate.stdout, separate.stderr], [7, 'out\n', 'err\n']);
    assert.equal(log(), 'out\nerr\nout\nerr\nout\n');
  });

  test('REL-6 go-runner passes signals on, and refuses unknown flags and a missing program', async () => {
    const script = 'trap "echo got it; exit 3" TERM; echo ready >&2; while :; do sleep 0.1; done';
    const args = ['/go-runner', '--log-file=/tmp/log', '--also-stdout', '--redirect-stderr=false', 'sh', '-c', script];
    const program = containers.start({ namespace, args });
    await program.until('ready');
    assert.deepEqual(await program.stop('SIGTERM'), { status: 3, signal: null });
    assert.equal(run(['/go-runner', '--log-fil=x', 'true']).status, 2);
    assert.equal(run(['/go-runner', '--log-file=x']).status, 1);
  });
});
