import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withClient } from '../../test/support/api-client.ts';
import type { Handler } from '../../test/support/api-server.ts';
import { ManualClock } from '../../test/support/manual-clock.ts';

/** Accepts only this token. */
function accepting(token: () => string): Handler {
  return ({ headers }, response) => {
    response.statusCode = headers.authorization === `Bearer ${token()}` ? 200 : 401;
    response.end(headers.authorization);
  };
}

test('CLIENT-10 after a 401 the client reads the token file again, and repeats the request once', () => {
  let valid = 'one';
  return withClient(
    accepting(() => valid),
    async ({ get, folder, server }) => {
      assert.equal(await get(), 'Bearer one');
      valid = 'two';
      folder.write('token', 'two');
      assert.equal(await get(), 'Bearer two');
      assert.equal(server.requests.length, 3);
      valid = 'three';
      assert.equal(await get(), 'Bearer two', 'the same token is not sent again');
      assert.equal(server.requests.length, 4);
    },
    { user: folder => ({ tokenFile: folder.write('token', 'one') }) },
  );
});

test('CLIENT-10 after a 401 the client runs the credential plugin again', () => {
  const script = `#!/bin/sh
echo run >> "$0.runs"
n=$(wc -l < "$0.runs")
echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"'$n'"}}'
`;
  return withClient(
    accepting(() => '2'),
    async ({ get, server }) => {
      assert.equal(await get(), 'Bearer 2');
      assert.equal(await get(), 'Bearer 2');
      assert.equal(server.requests.length, 3);
    },
    {
      user: folder => ({
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: folder.write('login', script, 0o755),
          interactiveMode: 'Never',
        },
      }),
    },
  );
});

test('CLIENT-10 if the credential plugin fails after a 401, the client logs that and returns the 401', () => {
  const script = `#!/bin/sh
[ -e "$0.ran" ] && { echo gone >&2; exit 1; }
touch "$0.ran"
echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"x"}}'
`;
  return withClient(
    accepting(() => 'y'),
    async ({ client, logLines }) => {
      const { status } = await client.request({ path: '/x', accept: 'a/b' });
      assert.equal(status, 401);
      assert.match(logLines.join('\n'), /Could not refresh the credential.*failed with exit code 1: gone/);
    },
    {
      user: folder => ({
        exec: {
          apiVersion: 'client.authentication.k8s.io/v1',
          command: folder.write('login', script, 0o755),
          interactiveMode: 'Never',
        },
      }),
    },
  );
});

/** Refuses the first `count` requests as a busy server does. */
function busy(count: number, status = 429, retryAfter = '2'): Handler {
  let requests = 0;
  return (_request, response) => {
    if (requests++ >= count) return void response.end('done');
    response.writeHead(status, { 'retry-after': retryAfter });
    response.end('busy');
  };
}

/** Lets time pass until the promise settles. */
async function advanceUntil<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  let settled = false;
  const end = () => {
    settled = true;
  };
  promise.then(end, end);
  while (!settled) {
    await new Promise(resolve => setTimeout(resolve, 1));
    await clock.advance(500);
  }
  return promise;
}

test('CLIENT-10 the client retries after the time that the server asks for', async () => {
  for (const status of [429, 500, 503]) {
    const clock = new ManualClock();
    await withClient(
      busy(2, status),
      async ({ get, observations, server }) => {
        assert.equal(await advanceUntil(clock, get()), 'done');
        assert.equal(server.requests.length, 3);
        assert.ok(clock.now() >= 4000, `${clock.now()} ms`);
        const attempts = observations.filter(({ kind }) => kind === 'attempt');
        assert.deepEqual(
          attempts.map(attempt => attempt.kind === 'attempt' && [attempt.code, attempt.retry]),
          [
            [String(status), false],
            [String(status), true],
            ['200', true],
          ],
        );
      },
      { client: { clock, timeouts: { readIdleMs: 0, connectMs: 1e9, handshakeMs: 1e9 } } },
    );
  }
});

test('CLIENT-10 clients that a busy server refuses together do not come back together', async () => {
  const clock = new ManualClock();
  await withClient(
    busy(1, 429, '8'),
    async ({ get }) => {
      assert.equal(await advanceUntil(clock, get()), 'done');
      assert.ok(clock.now() >= 12_000, `${clock.now()} ms`);
    },
    { client: { clock, random: () => 0.5, timeouts: { readIdleMs: 0, connectMs: 1e9 } } },
  );
});

test('CLIENT-10 the client retries at most ten times', async () => {
  const clock = new ManualClock();
  await withClient(
    busy(100, 429, '1'),
    async ({ get, server }) => {
      assert.equal(await advanceUntil(clock, get()), 'busy');
      assert.equal(server.requests.length, 11);
    },
    { client: { clock, timeouts: { readIdleMs: 0, connectMs: 1e9, handshakeMs: 1e9 } } },
  );
});

test('CLIENT-10 the client waits no longer than a minute, and logs each wait', async () => {
  for (const retryAfter of ['600', '99999999999']) {
    const clock = new ManualClock();
    await withClient(
      busy(1, 429, retryAfter),
      async ({ get, logLines }) => {
        assert.equal(await advanceUntil(clock, get('/api/v1/services')), 'done');
        assert.ok(clock.now() >= 60_000 && clock.now() < 65_000, `${clock.now()} ms`);
        const fields = '{"delay":"60s","status":429,"verb":"GET","path":"/api/v1/services"}';
        assert.deepEqual(logLines, [`The API server asks to retry later ${fields}`]);
      },
      { client: { clock, timeouts: { readIdleMs: 0, connectMs: 1e9, handshakeMs: 1e9 } } },
    );
  }
});

test('CLIENT-10 the client does not retry a watch, another error, or an answer without seconds', async () => {
  for (const [handler, path] of [
    [busy(1, 503, 'Fri, 31 Dec 1999 23:59:59 GMT'), '/x'],
    [busy(1, 404, '1'), '/x'],
    [busy(1, 429, '1'), '/x?limit=5&watch=1'],
  ] as const) {
    await withClient(handler, async ({ get }) => assert.equal(await get(path), 'busy'));
  }
});

test('CLIENT-10 a request that is aborted while it waits rejects', async () => {
  const clock = new ManualClock();
  await withClient(
    busy(1, 429, '60'),
    async ({ client, server }) => {
      const controller = new AbortController();
      const request = client.request({ path: '/x', accept: 'a/b', signal: controller.signal });
      while (server.requests.length === 0 || clock.pending === 0) await new Promise(resolve => setTimeout(resolve, 1));
      controller.abort();
      await assert.rejects(request, { code: 'aborted' });
      assert.equal(clock.pending, 0);
    },
    { client: { clock, timeouts: { readIdleMs: 0 } } },
  );
});
