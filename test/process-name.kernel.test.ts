import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { NetworkNamespace } from '../src/kernel/netns.ts';

const FLAGS = ['--hostname-override', 'node-a', '--cluster-cidr=10.244.0.0/16', '--proxy-mode', 'nftables'];

function output(program: string, ...args: string[]): string {
  const { stdout, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (error) throw error;
  return stdout.trim();
}

describe('the name of the process', () => {
  const folder = mkdtempSync(join(tmpdir(), 'process-name-'));
  const namespace = NetworkNamespace.create();
  let child: ChildProcess;

  before(async () => {
    const args = ['--manifests', folder, ...FLAGS, '--inspect-socket='];
    child = namespace.run(() => spawn('bin/kube-proxy', args, { stdio: ['ignore', 'ignore', 'pipe'] }));
    // The first line of the log: the process has its name by then.
    if (child.stderr) await once(child.stderr, 'data');
  });

  after(async () => {
    child.kill('SIGKILL');
    await once(child, 'close');
    namespace.close();
    rmSync(folder, { recursive: true });
  });

  test('START-28 ps, pgrep and pidof find the process by the name kube-proxy', () => {
    const pid = String(child.pid);
    const commands: readonly (readonly [string, ...string[]])[] = [
      ['ps', '-C', 'kube-proxy', '-o', 'pid='],
      ['pgrep', '-x', 'kube-proxy'],
      ['pidof', 'kube-proxy'],
    ];
    for (const [program, ...args] of commands)
      assert.ok(
        output(program, ...args)
          .split(/\s+/)
          .includes(pid),
        `${program} ${args.join(' ')}`,
      );
  });

  test('START-28 ps shows the command line with all flags', () => {
    assert.equal(
      output('ps', '-p', String(child.pid), '-o', 'args='),
      `kube-proxy --manifests ${folder} ${FLAGS.join(' ')}`,
    );
  });

  test('START-28 the name is that of the whole process, without flags', () => {
    assert.equal(readFileSync(`/proc/${child.pid}/comm`, 'utf8'), 'kube-proxy\n');
  });
});
