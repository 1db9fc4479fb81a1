import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runMain } from '../../../test/support/run-main.ts';

const run = (...args: string[]) => runMain(['trace', ...args]);

test('TRACE-9 a wrong command line has the exit status 2', async () => {
  const none = await run();
  assert.equal(none.status, 2);
  assert.match(none.stderr, /^Error: give --from, --to or both/);
  assert.match((await run('--to', '10.96.0.10', '--packets', '0')).stderr, /must be at least 1/);
  assert.match((await run('--to', '10.96.0.10', '--for=-1s')).stderr, /must not be negative/);
  assert.match((await run('--to', '10.96.0.10', '-o', 'xml')).stderr, /must be text or json/);
});

test('TRACE-9 a Service is asked from the running proxy; without one, the error says so', async () => {
  const { status, stderr } = await run('--to', 'shop/web', '--inspect-socket', '/nonexistent/proxy.sock');
  assert.equal(status, 2);
  assert.match(stderr, /\/nonexistent\/proxy\.sock/);
});
