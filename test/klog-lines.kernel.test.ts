import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { NetworkNamespace } from '../src/kernel/netns.ts';
import { waitFor } from './support/wait-for.ts';

/** How Vector's `parse_klog` reads a line. Other log shippers do the same. */
const KLOG_LINE =
  /^\s*(?<level>\w)(?<timestamp>\d{4}\s\d{2}:\d{2}:\d{2}\.\d{6})\s+(?<id>\d+)\s(?<file>.+):(?<line>\d+)\]\s(?<message>.*?)\s*$/;
const FLAGS = ['--hostname-override', 'node-a', '--cluster-cidr', '10.244.0.0/16', '--proxy-mode', 'nftables'];
const SYNCED = '"Synced all service ports" ipFamily="IPv6"';
const BROKEN = 'kind: Service\napiVersion: v1\nmetadata: { name: broken }\nspec: { ports: [{ port: 0 }] }\n';

/** Runs the program until it has synced, then ends it. Returns everything that it logged. */
async function runProgram(...args: readonly string[]): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'klog-lines-'));
  const namespace = NetworkNamespace.create();
  cpSync('examples', folder, { recursive: true });
  writeFileSync(join(folder, 'broken.yaml'), BROKEN);
  let log = '';
  const command = ['--manifests', folder, ...FLAGS, '--inspect-socket=', ...args];
  const child = namespace.run(() => spawn('bin/kube-proxy', command, { stdio: ['ignore', 'ignore', 'pipe'] }));
  child.stderr.on('data', data => {
    log += data;
  });
  try {
    await waitFor('the program has synced', () => log.includes(SYNCED), { timeoutMs: 20_000, details: () => log });
    child.kill('SIGTERM');
    await once(child, 'close');
    return log.trimEnd().split('\n');
  } finally {
    child.kill('SIGKILL');
    namespace.close();
    rmSync(folder, { recursive: true });
  }
}

describe('log lines of the program', () => {
  let lines: readonly string[] = [];

  before(async () => {
    lines = await runProgram('-v', '4');
  });

  test("LOG-1 every line is one that parsers of klog's form read", () => {
    assert.ok(lines.length > 10);
    assert.deepEqual(
      lines.filter(line => !KLOG_LINE.test(line)),
      [],
    );
    const levels = new Set(lines.map(line => KLOG_LINE.exec(line)?.groups?.level));
    assert.ok(levels.has('I') && levels.has('W'), [...levels].join());
  });

  test('LOG-22 at verbosity 4 the log names each service port and its endpoints', () => {
    for (const words of [
      '"Service received" service="default/web" change="added"',
      '"Service port added" ipFamily="IPv4" portName="default/web:http" servicePort="10.96.0.10:80/TCP"',
      '"Endpoints of a service port added" ipFamily="IPv4" portName="default/web:http" endpoints=["10.244.1.10:8080"',
    ])
      assert.ok(
        lines.some(line => line.includes(words)),
        words,
      );
  });

  test('START-6 with manifests the log does not say that the addresses of the Node are missing', () => {
    assert.deepEqual(
      lines.filter(line => /Can't determine this node's IP|nodePortAddresses is unset/.test(line)),
      [],
    );
  });

  test('LOG-22 at verbosity 2 the log names none of them', async () => {
    const quiet = await runProgram('-v', '2');
    assert.deepEqual(
      quiet.filter(line => line.includes('default/web')),
      [],
    );
  });

  test('LOG-21 the file and the line are those of the log call', () => {
    for (const [message, path] of [
      ['Version info', 'src/daemon/start.ts'],
      ['Input cannot be used', 'src/daemon/input-problems.ts'],
      ['kube-proxy ends; its rules stay in the kernel', 'src/daemon/daemon.ts'],
    ] as const) {
      const { file, line } = KLOG_LINE.exec(lines.find(text => text.includes(message)) ?? '')?.groups ?? {};
      assert.equal(file, path.slice(path.lastIndexOf('/') + 1), message);
      const called = readFileSync(path, 'utf8').split('\n')[Number(line) - 1];
      assert.ok(called?.includes(`'${message}'`), `${path}:${line} is ${called}`);
    }
  });
});
