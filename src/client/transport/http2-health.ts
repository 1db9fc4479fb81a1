import type { ClientHttp2Session } from 'node:http2';
import type { Clock, Timer } from '../../lib/clock.ts';
import type { ConnectionTimeouts } from './timeouts.ts';

/** How many checks there are in one `readIdleMs`. */
const CHECKS = 3;

export interface HealthOptions {
  readonly session: Pick<ClientHttp2Session, 'closed' | 'destroyed' | 'ping' | 'settings'>;
  /** How many bytes the socket has received so far. */
  readonly bytesRead: () => number;
  readonly timeouts: ConnectionTimeouts;
  readonly clock: Clock;
  readonly onDead: () => void;
}

/**
 * Pings a silent session, and calls `onDead` if there is no answer. Without this, the kernel notices a vanished peer
 * only after a quarter of an hour if there is data to send, and never while the client only waits for events.
 */
export function watchHealth({ session, bytesRead, timeouts, clock, onDead }: HealthOptions): {
  readonly stop: () => void;
} {
  let timer: Timer | undefined;
  let lastBytes = bytesRead();
  let silentChecks = 0;
  const check = () => {
    const bytes = bytesRead();
    silentChecks = bytes === lastBytes ? silentChecks + 1 : 0;
    lastBytes = bytes;
    if (silentChecks < CHECKS) schedule();
    else ping();
  };
  const schedule = () => {
    timer = clock.setTimer(timeouts.readIdleMs / CHECKS, check);
  };
  const ping = () => {
    // The session ended with its last request, but the peer has not closed the socket. A ping is no longer possible.
    if (session.destroyed) return onDead();
    silentChecks = 0;
    timer = clock.setTimer(timeouts.pingMs, onDead);
    // After GOAWAY Node sends no PING. The peer must acknowledge SETTINGS as well.
    if (session.closed) session.settings({}, answered);
    else session.ping(answered);
  };
  const answered = (error: Error | null) => {
    timer?.cancel();
    if (!error && !session.destroyed) schedule();
  };
  if (timeouts.readIdleMs > 0) schedule();
  return { stop: () => timer?.cancel() };
}
