import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';

/** The program of this tree, for processes in any folder. */
export const KUBE_PROXY = resolve('bin/kube-proxy');

/** The proxy logs this after the first sync of its last IP family. */
export const SYNCED = /"Synced all service ports" ipFamily="IPv6"/;

/** Builds the program if a source is newer. Otherwise the first start would take longer than a test waits. */
export function buildKubeProxy(): void {
  const { status, stderr } = spawnSync(KUBE_PROXY, ['--version'], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

const MAX_COMMAND_MS = 60_000;

/** Runs a command of the program to its end, as in the proxy's pod. */
export function runKubeProxy(namespace: NetworkNamespace, args: readonly string[]) {
  const options = { encoding: 'utf8', timeout: MAX_COMMAND_MS } as const;
  const { status, stdout, stderr } = namespace.run(() => spawnSync(KUBE_PROXY, args, options));
  return { status, stdout, stderr };
}
