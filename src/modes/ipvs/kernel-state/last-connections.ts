import { IpvsSocket } from '../../../kernel/ipvs/index.ts';
import type { NetworkNamespace } from '../../../kernel/netns.ts';
import { Breaks } from '../../../lib/breaks.ts';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { sleep } from '../../../lib/sleep.ts';

/** Enough for a request that is under way. */
const MAX_WAIT_MS = 10_000;
/** The kernel does not count a connection before its handshake has ended, so the first look comes after this time, too. */
const LOOK_EVERY_MS = 1000;

/**
 * Waits until no virtual server has an open TCP connection, but not for ever. Without its real server, the kernel drops
 * all packets of a connection silently. Returns false if the signal ended the wait while there were connections.
 */
export async function lastConnectionsEnded(
  namespace: NetworkNamespace | undefined,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<boolean> {
  const end = clock.elapsed() + MAX_WAIT_MS;
  do await sleep(LOOK_EVERY_MS, clock, signal);
  while (!signal.aborted && clock.elapsed() < end && (await hasConnections(namespace)));
  return !(signal.aborted && (await hasConnections(namespace)));
}

async function hasConnections(namespace: NetworkNamespace | undefined): Promise<boolean> {
  const socket = IpvsSocket.open({ namespace });
  const breaks = new Breaks();
  try {
    for (const { key } of socket.services()) {
      if (socket.destinations(key).some(({ activeConnections }) => activeConnections > 0)) return true;
      if (breaks.isDue) await breaks.take();
    }
    return false;
  } finally {
    socket.close();
  }
}
