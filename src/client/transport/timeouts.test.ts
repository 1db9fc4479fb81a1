import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../client-log.ts';
import { connectionTimeouts } from './timeouts.ts';

test('CLIENT-7 the default timeouts are 30 s to connect, 10 s of them for TLS, 30 s of silence, and 15 s for the answer to a ping', () => {
  assert.deepEqual(connectionTimeouts({}, silentLog), {
    connectMs: 30_000,
    handshakeMs: 10_000,
    readIdleMs: 30_000,
    pingMs: 15_000,
  });
});
