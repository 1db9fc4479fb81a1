import type { ClientHttp2Session } from 'node:http2';
import type { Clock, Timer } from '../../lib/clock.ts';
import type { ConnectionTimes } from './connection.ts';

/** How often in a `readIdleMs` it is looked whether something was read. */
const LOOKS = 3;

export interface HealthOptions {
  readonly session: Pick<ClientHttp2Session, 'closed' | 'destroyed' | 'ping' | 'settings'>;
  /** All bytes that came so far. */
  readonly bytesRead: () => number;
  readonly times: ConnectionTimes;
  readonly clock: Clock;
  readonly onDead: () => void;
}

/**
 * Asks a silent session whether it lives. A peer that vanished without a word is otherwise noticed after a quarter of an
 * hour, if there is something to send, and never if we only wait for events.
 */
export function watchHealth({ session, bytesRead, times, clock, onDead }: HealthOptions): {
  readonly stop: () => void;
} {
  let timer: Timer | undefined;
  let seen = bytesRead();
  let silentLooks = 0;
  const look = () => {
    const now = bytesRead();
    silentLooks = now === seen ? silentLooks + 1 : 0;
    seen = now;
    if (silentLooks < LOOKS) schedule();
    else ping();
  };
  const schedule = () => {
    timer = clock.setTimer(times.readIdleMs / LOOKS, look);
  };
  const ping = () => {
    // It ended with its last request, but its socket waits for a peer that does not close its side: nobody can be asked.
    if (session.destroyed) return onDead();
    silentLooks = 0;
    timer = clock.setTimer(times.pingMs, onDead);
    // Node sends no PING once either side has said GOAWAY; SETTINGS must be acknowledged just as well.
    if (session.closed) session.settings({}, answered);
    else session.ping(answered);
  };
  const answered = (error: Error | null) => {
    timer?.cancel();
    if (!error && !session.destroyed) schedule();
  };
  if (times.readIdleMs > 0) schedule();
  return { stop: () => timer?.cancel() };
}
