import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { deployedCapabilities } from '../e2e/deployed-objects.ts';
import { servers } from '../support/ipvs-state.ts';

const PROGRAM = ['bin/kube-proxy', '--manifests', 'examples', '--hostname-override', 'node-a', '--proxy-mode', 'ipvs'];
/** The proxy writes its rules within seconds. Then it ends, because SIGTERM does not harm them. */
const UNTIL_WRITTEN = ['timeout', '30'];
const READ_ONLY = `set -e
mount --make-rprivate /
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
mount -o remount,ro /sys
mount -o remount,bind,ro /
exec "$@"`;

function run(command: readonly string[]): string {
  const { stderr } = spawnSync(command[0] ?? '', command.slice(1), { encoding: 'utf8' });
  return stderr;
}

function runWithFewRights(): string {
  const capabilities = ['-all', ...deployedCapabilities('ipvs').map(name => `+${name.toLowerCase()}`)].join();
  const setpriv = ['setpriv', '--bounding-set', capabilities, '--inh-caps', '-all', '--no-new-privs'];
  return run(['unshare', '--mount', 'sh', '-c', READ_ONLY, 'sh', ...setpriv, ...UNTIL_WRITTEN, ...PROGRAM]);
}

test('START-18 ipvs mode works with the capabilities of deploy/ after --init-only, and not before', () => {
  const namespace = NetworkNamespace.current();
  try {
    assert.match(runWithFewRights(), /command failed.*can't set sysctl net\/ipv4\/\S+ to 1: EROFS/);
    assert.doesNotMatch(run([...PROGRAM, '--init-only']), /command failed/);
    assert.match(runWithFewRights(), /"kube-proxy ends; its rules stay in the kernel"/);
    assert.match(servers(namespace), /^-A -t 10\.96\.0\.10:80 -s rr/m);
  } finally {
    run(['bin/kube-proxy', 'cleanup']);
    namespace.close();
  }
});
