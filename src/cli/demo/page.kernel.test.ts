import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { waitFor } from '../../../test/support/wait-for.ts';

const TIMEOUT_MS = 30_000;

test('DEMO-13 in another network namespace the demo serves the page at the listener that it is handed', async () => {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  assert.ok(address !== null && typeof address === 'object');
  const flags = ['demo', '--manifests', 'examples/web.yaml', '--page-bind-address', `127.0.0.1:${address.port}`];
  const child = spawn('unshare', ['--net', process.execPath, 'build/kube-proxy.mjs', ...flags], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { ...process.env, POINTSMAN_PAGE_LISTENER: 'sent' },
  });
  const ended = once(child, 'exit');
  let stderr = '';
  child.stderr?.on('data', data => {
    stderr += data;
  });
  try {
    child.send('page', listener, () => listener.close());
    const url = `http://127.0.0.1:${address.port}/`;
    await waitFor('the URL', () => stderr.includes('\n'), { timeoutMs: TIMEOUT_MS });
    assert.equal(stderr, `The operator's page: ${url}\n`);
    const response = await fetch(`${url}v1/status`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    assert.equal(JSON.parse(await response.text()).node, 'node-a');
  } finally {
    child.kill();
    await ended;
  }
});
