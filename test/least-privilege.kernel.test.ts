import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { NetworkNamespace } from '../src/kernel/netns.ts';
import { deployedCapabilities } from './e2e/deployed-objects.ts';
import { TestNode } from './e2e/test-node.ts';
import { testControlGroup } from './support/bpf-lab.ts';
import { buildKubeProxy } from './support/kube-proxy.ts';
import { createNodeNamespace } from './support/namespaces.ts';
import { nft } from './support/nftables-mode.ts';
import { runIn } from './support/run-in.ts';
import { SandboxedProgram } from './support/sandbox.ts';

const FLAGS = [
  '--manifests',
  'examples',
  '--hostname-override',
  'node-a',
  '--cluster-cidr',
  '10.244.0.0/16',
  '-v',
  '2',
];
const ROOT = 0;
const NOBODY = 65532;
const CAPABILITY_BITS: Readonly<Record<string, bigint>> = { NET_ADMIN: 12n, PERFMON: 38n, BPF: 39n };
const PERMISSION = /EACCES|EPERM|EROFS|[Pp]ermission denied|not permitted|[Rr]ead-only/;
/** Lines about a missing permission that say what the proxy cannot do. */
const NOTICES = ['"Failed to apply OOMScore"'];
/** The kernel shows the tables of the legacy backend to root only. */
const OTHER_BACKEND = [
  '"Could not look for rules of the other iptables backend"',
  '"Could not remove what another mode left"',
];

before(() => {
  // In the sandbox the program could not write its build.
  buildKubeProxy();
});

/** Runs the program with the capabilities that deploy/ gives to the mode. */
async function withProgram(
  mode: string,
  uid: number,
  work: (program: SandboxedProgram, namespace: NetworkNamespace) => Promise<void>,
  prepare: (namespace: NetworkNamespace) => void = () => {},
): Promise<void> {
  await withModeFlags(mode, async flags => {
    const namespace = createNodeNamespace();
    let program: SandboxedProgram | undefined;
    try {
      prepare(namespace);
      const capabilities = deployedCapabilities(mode).map(name => name.toLowerCase());
      program = new SandboxedProgram(namespace, { uid, capabilities }, [...FLAGS, '--proxy-mode', mode, ...flags]);
      await work(program, namespace);
    } finally {
      await program?.end('SIGKILL');
      namespace.close();
    }
  });
}

/** The capabilities as the kernel shows them. */
function capabilitySet(names: readonly string[]): string {
  const bits = names.map(name => CAPABILITY_BITS[name] ?? assert.fail(name));
  return bits
    .reduce((set, bit) => set | (1n << bit), 0n)
    .toString(16)
    .padStart(16, '0');
}

/** ebpf mode serves a control group of its own, and none of the machine's processes. */
function withModeFlags<T>(mode: string, work: (flags: readonly string[]) => Promise<T>): Promise<T> {
  if (mode !== 'ebpf') return work([]);
  const path = join(testControlGroup(), 'least-privilege');
  mkdirSync(path);
  return work(['--cgroup-root', path]).finally(() => rmdirSync(path));
}

/** What a privileged init container does. */
function initialise(namespace: NetworkNamespace): void {
  runIn(namespace, 'bin/kube-proxy', [...FLAGS, '--proxy-mode', 'iptables', '--init-only']);
}

function programmedRules(namespace: NetworkNamespace, mode: string): string {
  if (mode === 'nftables' || mode === 'ebpf')
    return nft(namespace, 'list', 'map', 'ip', 'kube-proxy', 'service-numbers');
  return runIn(namespace, 'iptables-save');
}

for (const mode of ['nftables', 'ebpf', 'iptables', 'userspace']) {
  const rights = deployedCapabilities(mode);
  for (const uid of [ROOT, NOBODY]) {
    test(`START-18 INSPECT-23 ${mode} mode works as user ${uid} with no capability but ${rights}`, async () => {
      const explained = [...NOTICES, ...(uid === NOBODY ? OTHER_BACKEND : [])];
      const check = async (program: SandboxedProgram, namespace: NetworkNamespace) => {
        await program.untilLogged('"Synced all service ports" ipFamily="IPv6"');
        const capabilities = program.status('CapEff');
        assert.deepEqual([capabilities, program.status('CapBnd')], [capabilitySet(rights), capabilitySet(rights)]);
        assert.deepEqual([program.status('Uid')?.split('\t')[0], program.status('NoNewPrivs')], [`${uid}`, '1']);
        for (const path of ['/', '/mnt', '/tmp', '/sys', '/proc/sys']) {
          assert.ok(program.mountOptions(path).includes('ro'), path);
        }
        assert.match(programmedRules(namespace, mode), /10\.96\.0\.10\b/);
        assert.equal((await new TestNode(namespace).health('/healthz')).status, 200);
        if (mode === 'ebpf') {
          const { text } = await new TestNode(namespace).health('/readyz?verbose');
          assert.match(text, /^\[\+\]sockets ok: serving: .*$/m);
          assert.doesNotMatch(text, /until this process ends/);
        }
        const { status, stdout } = program.exec('status');
        assert.equal(status, 0, stdout);
        assert.match(stdout, /^ {2}version +Pointsman \d/m, 'status asked through the socket');
        assert.equal(await program.end('SIGTERM'), 0);
        const refused = program.log.filter(line => PERMISSION.test(line));
        assert.deepEqual(
          refused.filter(line => !explained.some(words => line.includes(words))),
          [],
        );
        assert.deepEqual(program.refusedCalls, []);
      };
      await withProgram(mode, uid, check, mode === 'iptables' ? initialise : undefined);
    });
  }
}

test('START-18 iptables mode that may not set route_localnet ends, and its error names the setting', () =>
  withProgram('iptables', ROOT, async program => {
    assert.equal(await program.exitStatus(), 1);
    assert.match(program.log.at(-1) ?? '', /can't set sysctl net\/ipv4\/conf\/all\/route_localnet to 1: EROFS/);
  }));

for (const mode of ['nftables', 'userspace']) {
  test(`IPT-18 ${mode} mode reports that it may not look for the rules of a former proxy`, () =>
    withProgram(
      mode,
      ROOT,
      async program => {
        await program.untilLogged('"Could not remove what another mode left"');
        assert.match(
          program.log.find(line => line.includes('what another mode left')) ?? '',
          /iptables-legacy-save.*Permission denied/,
        );
      },
      namespace => runIn(namespace, 'iptables-legacy', ['-t', 'nat', '-N', 'KUBE-SERVICES']),
    ));
}

test('IPT-18 a cleanup that may not look for rules fails, and says so', () => {
  const namespace = createNodeNamespace();
  try {
    runIn(namespace, 'iptables', ['-t', 'nat', '-N', 'KUBE-SERVICES']);
    const args = ['--bounding-set', '-all', 'bin/kube-proxy', 'cleanup'];
    const { status, stderr } = namespace.run(() => spawnSync('setpriv', args, { encoding: 'utf8' }));
    assert.equal(status, 1);
    assert.match(stderr, /^left rules of IPv4, .*(EPERM|Permission denied)/m);
  } finally {
    namespace.close();
  }
});
