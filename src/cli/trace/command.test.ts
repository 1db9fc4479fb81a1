import assert from 'node:assert/strict';
import { test } from 'node:test';
import { main } from '../main.ts';

async function run(...args: string[]) {
  let output = '';
  let errors = '';
  const io = {
    stdout: { write: (text: string) => (output += text) },
    stderr: { write: (text: string) => (errors += text) },
    env: {},
  };
  const status = await main(['trace', ...args], io);
  return { status, output, errors };
}

test('TRACE-9 a wrong command line has the exit status 2', async () => {
  const none = await run();
  assert.equal(none.status, 2);
  assert.match(none.errors, /^Error: give --from, --to or both/);
  assert.match((await run('--to', '10.96.0.10', '--packets', '0')).errors, /must be at least 1/);
  assert.match((await run('--to', '10.96.0.10', '--for=-1s')).errors, /must not be negative/);
  assert.match((await run('--to', '10.96.0.10', '-o', 'xml')).errors, /must be text or json/);
});

test('TRACE-9 a Service is asked from the running proxy; without one, the error says so', async () => {
  const { status, errors } = await run('--to', 'shop/web', '--inspect-socket', '/nonexistent/proxy.sock');
  assert.equal(status, 2);
  assert.match(errors, /\/nonexistent\/proxy\.sock/);
});
