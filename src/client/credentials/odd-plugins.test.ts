import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ClientCase, withClient } from '../../../test/support/api-client.ts';
import type { Handler } from '../../../test/support/api-server.ts';

const CREDENTIAL = '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"x"}}';
const EXPIRED = CREDENTIAL.replace('"x"', '"x","expirationTimestamp":"2001-01-01T00:00:00Z"');

/** Runs a test with a client whose credentials come from a shell script, and with a server that sends this status. */
function withScript(script: string, status: number, act: (parts: ClientCase) => Promise<void>): Promise<void> {
  const handler: Handler = (_request, response) => {
    response.statusCode = status;
    response.end('done');
  };
  return withClient(handler, act, {
    user: folder => ({
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: folder.write('login', `#!/bin/sh\necho run >> "$0.runs"\n${script}\n`, 0o755),
        interactiveMode: 'Never',
      },
    }),
  });
}

async function abortedAfter(ms: number, { client }: ClientCase): Promise<number> {
  const started = performance.now();
  const request = client.request({ path: '/x', accept: 'a/b', signal: AbortSignal.timeout(ms) });
  await assert.rejects(request, { name: 'ApiError', code: 'aborted' });
  return performance.now() - started;
}

test('CLIENT-12 a signal ends a request at once that waits for a plugin that hangs', () =>
  withScript('exec sleep 5', 200, async parts => {
    assert.ok((await abortedAfter(50, parts)) < 1000);
  }));

test('CLIENT-12 a signal ends a request at once that waits for a plugin that hangs after a 401', () =>
  withScript(`[ -e "$0.ran" ] && exec sleep 5; touch "$0.ran"; echo '${CREDENTIAL}'`, 401, async parts => {
    assert.ok((await abortedAfter(300, parts)) < 1500);
    assert.deepEqual(parts.logLines, []);
  }));

test('CLIENT-6 the client kills a plugin that prints 100 MB, and keeps little of it', () =>
  withScript('exec head -c 100000000 /dev/zero', 200, async ({ get }) => {
    const before = process.memoryUsage().rss;
    await assert.rejects(get(), { code: 'credentials', message: /wrote more than 1048576 bytes, killed$/ });
    assert.ok(process.memoryUsage().rss - before < 50 << 20);
  }));

test('CLIENT-6 a plugin may print 100 MB of errors; the log shows the last lines', () =>
  withScript(`yes "no network" | head -c 100000000 >&2; echo '${CREDENTIAL}'`, 200, async ({ get, logLines }) => {
    assert.equal(await get(), 'done');
    assert.ok(logLines.join('').length < 2000, `${logLines.join('').length} characters`);
  }));

test('CLIENT-6 a plugin that always returns an expired token runs at most twice for each request', () =>
  withScript(`echo '${EXPIRED}'`, 401, async ({ client, server, folder }) => {
    for (let count = 0; count < 5; count++) {
      assert.equal((await client.request({ path: '/x', accept: 'a/b' })).status, 401);
    }
    assert.equal(server.requests.length, 5);
    assert.ok(readFileSync(join(folder.path, 'login.runs'), 'utf8').split('\n').length - 1 <= 10);
  }));
