import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { main } from '../../src/cli/main.ts';
import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { servers } from '../support/ipvs-state.ts';
import { waitFor } from '../support/wait-for.ts';

/** Runs a command of the program in this process, in the network of the guest. */
async function kubeProxy(...args: string[]): Promise<{ readonly status: number; readonly output: string }> {
  let output = '';
  const stream = { write: (text: string) => (output += text) };
  const status = await main(args, { stdout: stream, stderr: stream, env: {} });
  return { status, output };
}

test('IPVS-22 in ipvs mode the program follows its manifests, and its virtual servers stay until a cleanup', async () => {
  const namespace = NetworkNamespace.current();
  const folder = mkdtempSync(join(tmpdir(), 'program-'));
  try {
    cpSync('examples', folder, { recursive: true });
    const running = kubeProxy('--manifests', folder, '--proxy-mode', 'ipvs', '--hostname-override', 'node-a');
    const isProgrammed = () => servers(namespace).includes('-A -t 10.96.0.10:80 -s rr');
    await waitFor('the virtual server exists', isProgrammed, { timeoutMs: 15_000, pollMs: 50 });
    process.emit('SIGTERM');
    const { status, output } = await running;
    assert.equal(status, 0, output);
    assert.ok(isProgrammed());
    const cleanup = await kubeProxy('cleanup');
    assert.equal(cleanup.status, 0, cleanup.output);
    assert.match(cleanup.output, /removed \d+ IPv4 virtual servers\n.*removed link kube-ipvs0\n/s);
    assert.equal(servers(namespace), '\n');
  } finally {
    rmSync(folder, { recursive: true });
    namespace.close();
  }
});
