import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { servers } from '../support/ipvs-state.ts';
import { type MainResult, runMain } from '../support/run-main.ts';
import { waitFor } from '../support/wait-for.ts';

/** Runs a command of the program in this process, in the network of the guest. */
async function kubeProxy(...args: string[]): Promise<MainResult> {
  return await runMain(args);
}

test('IPVS-22 in ipvs mode the program follows its manifests, and its virtual servers stay until a cleanup', async () => {
  const namespace = NetworkNamespace.current();
  const folder = mkdtempSync(join(tmpdir(), 'program-'));
  try {
    cpSync('examples', folder, { recursive: true });
    const flags = ['--manifests', folder, '--proxy-mode', 'ipvs', '--hostname-override', 'node-a'];
    const isProgrammed = () => servers(namespace).includes('-A -t 10.96.0.10:80 -s rr');
    const difference = () => kubeProxy('plan', ...flags, '--diff');
    assert.match((await difference()).stdout, /^-A -t 10\.96\.0\.10:80 -s rr$/m);
    assert.ok(!isProgrammed());
    const running = kubeProxy(...flags, '--inspect-socket=');
    try {
      await waitFor('the virtual server exists', isProgrammed, { timeoutMs: 15_000, pollMs: 50 });
      const isComplete = async () => (await difference()).stdout === 'no difference\n';
      await waitFor('plan --diff finds no difference', isComplete, { timeoutMs: 30_000, pollMs: 500 });
    } finally {
      // A proxy that goes on would keep the process of all tests alive.
      process.emit('SIGTERM');
    }
    const { status, stderr } = await running;
    assert.equal(status, 0, stderr);
    assert.ok(isProgrammed());
    const cleanup = await kubeProxy('cleanup');
    assert.equal(cleanup.status, 0, cleanup.stderr);
    assert.match(cleanup.stdout + cleanup.stderr, /removed \d+ IPv4 virtual servers\n.*removed link kube-ipvs0\n/s);
    assert.equal(servers(namespace), '\n');
  } finally {
    rmSync(folder, { recursive: true });
    namespace.close();
  }
});
