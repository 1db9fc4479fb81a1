import assert from 'node:assert/strict';
import type { ClientHttp2Session } from 'node:http2';
import { test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { watchHealth } from './http2-health.ts';

const throwDestroyed = () => {
  throw new Error('The session has been destroyed');
};

test('CLIENT-7 an ended session whose socket stays open counts as dead, without a ping', async () => {
  const clock = new ManualClock();
  let deadCount = 0;
  watchHealth({
    session: { closed: true, destroyed: true, ping: throwDestroyed, settings: throwDestroyed },
    bytesRead: () => 0,
    timeouts: { connectMs: 1000, handshakeMs: 1000, readIdleMs: 30_000, pingMs: 15_000 },
    clock,
    onDead: () => deadCount++,
  });
  await clock.advance(29_999);
  assert.equal(deadCount, 0);
  await clock.advance(1);
  assert.equal(deadCount, 1);
  await clock.advance(120_000);
  assert.deepEqual([deadCount, clock.pending], [1, 0]);
});

/** Watches a session that answers each ping at once, unless `isDead`. */
function watchSession(readIdleMs = 30_000) {
  const clock = new ManualClock();
  const session = { pings: [] as number[], isDead: false, deadAt: undefined as number | undefined, bytes: 0 };
  const ping = (answered: (error: Error | null, duration: number, payload: Buffer) => void) => {
    session.pings.push(clock.elapsed());
    if (!session.isDead) answered(null, 0, Buffer.alloc(8));
    return true;
  };
  const { stop } = watchHealth({
    session: { closed: false, destroyed: false, ping: ping as ClientHttp2Session['ping'], settings: throwDestroyed },
    bytesRead: () => session.bytes,
    timeouts: { connectMs: 1000, handshakeMs: 1000, readIdleMs, pingMs: 15_000 },
    clock,
    onDead: () => {
      session.deadAt = clock.elapsed();
    },
  });
  return { clock, session, stop };
}

test('CLIENT-7 a silent session that answers pings lives on, and gets a ping every 30 s', async () => {
  const { clock, session, stop } = watchSession();
  await clock.advance(100_000);
  assert.deepEqual(session.pings, [30_000, 60_000, 90_000]);
  assert.equal(session.deadAt, undefined);
  stop();
  assert.equal(clock.pending, 0);
});

test('CLIENT-7 a session that does not answer a ping is dead after 15 s', async () => {
  const { clock, session } = watchSession();
  session.isDead = true;
  await clock.advance(100_000);
  assert.deepEqual([session.pings, session.deadAt], [[30_000], 45_000]);
});

test('CLIENT-7 a session on which data comes gets no ping', async () => {
  const { clock, session, stop } = watchSession();
  for (let i = 0; i < 20; i++) {
    session.bytes++;
    await clock.advance(9_000);
  }
  assert.deepEqual(session.pings, []);
  stop();
});

test('CLIENT-7 with HTTP2_READ_IDLE_TIMEOUT_SECONDS=0 a session gets no ping', () => {
  assert.equal(watchSession(0).clock.pending, 0);
});
