import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { NetworkNamespace } from '../src/kernel/netns.ts';
import { Program } from './control-plane/program.ts';
import { assertAnsweredInTime, type ProbeResult } from './support/http-prober.ts';
import { createNodeNamespace } from './support/namespaces.ts';

const MAX_OPEN = 1000;
const MAX_MEMORY_MIB = 160;
const FLAGS = ['--hostname-override', 'node-a', '--proxy-mode', 'nftables', '--conntrack-max-per-core', '0'];

/**
 * The program of the attacker, which opens 10,000 connections to both ports and sends nothing. It opens 100 at once and
 * then probes. So the prober waits for few connections before its own, however slow the machine is.
 */
const PROGRAM = `
const { once } = require('node:events');
const { get } = require('node:http');
const { connect } = require('node:net');
const result = { answers: 0, failures: 0, slowestMs: 0, open: 0 };
async function attack(port, localAddress) {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => {});
  await once(socket, 'connect');
  result.open++;
  socket.once('close', () => result.open--);
}
function probe() {
  const start = performance.now();
  return new Promise(resolve => {
    const end = key => {
      result[key]++;
      result.slowestMs = Math.max(result.slowestMs, performance.now() - start);
      resolve();
    };
    get({ host: '127.0.0.1', port: 10256, path: '/livez', agent: false }, response => {
      response.resume();
      response.on('end', () => end(response.statusCode === 200 ? 'answers' : 'failures'));
    }).on('error', () => end('failures'));
  });
}
(async () => {
  for (let batch = 0; batch < 100; batch++) {
    const [port, from] = batch % 2 === 0 ? [10256, '127.0.0.2'] : [10249, '127.0.0.3'];
    await Promise.all(Array.from({ length: 100 }, () => attack(port, from)));
    await probe();
  }
  process.stdout.write(JSON.stringify(result), () => process.exit());
})();
`;

async function attack(namespace: NetworkNamespace): Promise<ProbeResult & { readonly open: number }> {
  const attacker = namespace.run(() =>
    spawn(process.execPath, ['-e', PROGRAM], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  try {
    const [output] = await once(attacker.stdout, 'data', { signal: AbortSignal.timeout(60_000) });
    return JSON.parse(String(output));
  } finally {
    attacker.kill('SIGKILL');
  }
}

test('HEALTH-15 the proxy answers within a second while others open 10,000 connections, and its memory is bounded', async () => {
  const namespace = createNodeNamespace();
  const command = ['bin/kube-proxy', '--manifests', 'examples', ...FLAGS, '--inspect-socket='];
  const program = new Program('the proxy', command, { namespace });
  try {
    await program.until(/"Synced all service ports" ipFamily="IPv6"/);
    await assertAnsweredInTime(async () => {
      const result = await attack(namespace);
      assert.equal(result.answers, 100);
      assert.ok(result.open <= MAX_OPEN + 100, `${result.open} connections are open`);
      return result;
    });
    const status = readFileSync(`/proc/${program.pid}/status`, 'utf8');
    const peakMiB = Number(/^VmHWM:\s*(\d+)/m.exec(status)?.[1]) / 1024;
    assert.ok(peakMiB < MAX_MEMORY_MIB, `${peakMiB} MiB`);
  } finally {
    await program.stop('SIGKILL');
    namespace.close();
  }
});
