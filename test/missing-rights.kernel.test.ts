import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { before, test } from 'node:test';
import type { NetworkNamespace } from '../src/kernel/netns.ts';
import { buildKubeProxy } from './support/kube-proxy.ts';
import { createNodeNamespace } from './support/namespaces.ts';

const FLAGS = ['--manifests', 'examples', '--hostname-override', 'node-a', '--cluster-cidr', '10.244.0.0/16'];
const CURE = 'run kube-proxy as root or with CAP_NET_ADMIN';
const TIMEOUT_MS = 30_000;

before(() => {
  // Without rights the program could not write its build.
  buildKubeProxy();
});

/** Runs the program until it ends, as root without any capability, or as it is. */
function run(namespace: NetworkNamespace, mode: string, withoutRights: boolean) {
  const setpriv = withoutRights ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'] : [];
  const command = [...setpriv, process.execPath, 'build/kube-proxy.mjs', ...FLAGS, '--proxy-mode', mode];
  const [program = '', ...args] = command;
  const { status, stderr } = namespace.run(() =>
    spawnSync(program, args, { encoding: 'utf8', timeout: TIMEOUT_MS, killSignal: 'SIGKILL' }),
  );
  return { status, lastLine: stderr.trimEnd().split('\n').at(-1) ?? '' };
}

for (const mode of ['nftables', 'ebpf', 'iptables', 'ipvs', 'userspace']) {
  test(`START-29 without rights, ${mode} mode ends at the start and says which right it needs`, () => {
    const namespace = createNodeNamespace();
    try {
      const { status, lastLine } = run(namespace, mode, true);
      assert.equal(status, 1, lastLine);
      assert.ok(lastLine.includes(CURE), lastLine);
    } finally {
      namespace.close();
    }
  });
}

test('START-29 ipvs mode on a kernel without ip_vs ends at the start and says how to load it', () => {
  const namespace = createNodeNamespace();
  try {
    const hasIpvs = namespace.run(() => existsSync('/proc/net/ip_vs'));
    const { status, lastLine } = hasIpvs ? { status: 1, lastLine: 'modprobe ip_vs' } : run(namespace, 'ipvs', false);
    assert.equal(status, 1, lastLine);
    assert.match(lastLine, /modprobe ip_vs/);
  } finally {
    namespace.close();
  }
});
