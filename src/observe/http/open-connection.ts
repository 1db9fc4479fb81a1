import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { type Closable, type ConnectionPlace, peerOf } from './connection-table.ts';
import { HttpConnection } from './http-connection.ts';
import { TlsHandshake } from './tls-handshake.ts';
import { processTurns } from './turn-queue.ts';

const HANDSHAKE_TIMEOUT_MS = 10_000;
const NO_BYTES = Buffer.alloc(0);

export interface HttpServerTls {
  /** The certificate for a new connection. Throws if there is none. */
  readonly context: () => SecureContext;
  /** Whether a peer may begin a handshake now. By default always. */
  readonly admits?: ((peer: string) => boolean) | undefined;
  /** The longest time of a handshake, however many bytes come meanwhile. By default 10 s. */
  readonly handshakeTimeoutMs?: number | undefined;
}

export interface OpenedConnection {
  readonly socket: Socket;
  readonly place: ConnectionPlace;
  readonly bytes: Buffer;
  readonly tls: HttpServerTls | undefined;
}

/** Makes an HTTP connection of one that has sent its first bytes, with TLS after the handshake. */
export function openConnection(
  { socket, place, bytes, tls }: OpenedConnection,
  opened: (connection: HttpConnection) => void,
): Closable {
  const openHttp = (stream: Socket, first: Buffer) => {
    const connection = new HttpConnection({ socket: stream, place, turns: processTurns, bytes: first });
    opened(connection);
    return connection;
  };
  if (!tls) return openHttp(socket, bytes);
  const context = contextFor(socket, tls);
  if (!context) {
    const closed: Closable = { isBusy: false, destroy: () => void socket.destroy() };
    closed.destroy();
    return closed;
  }
  const { handshakeTimeoutMs: timeoutMs = HANDSHAKE_TIMEOUT_MS } = tls;
  return new TlsHandshake({ socket, bytes, context, timeoutMs, open: secure => openHttp(secure, NO_BYTES) });
}

function contextFor(socket: Socket, { context, admits }: HttpServerTls): SecureContext | undefined {
  if (admits && !admits(peerOf(socket.remoteAddress ?? ''))) return undefined;
  try {
    return context();
  } catch {
    // The owner of the certificate reports it.
    return undefined;
  }
}
