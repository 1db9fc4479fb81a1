import type { Socket } from 'node:net';
import type { Closable, ConnectionPlace, ConnectionTable } from './connection-table.ts';

export interface SilentConnectionOptions {
  readonly socket: Socket;
  readonly connections: ConnectionTable;
  /** Closes the connection if its peer sends nothing for this long. */
  readonly timeoutMs: number;
  /** The peer has sent its first bytes. */
  readonly open: (place: ConnectionPlace, bytes: Buffer) => Closable;
}

/**
 * A connection that becomes an HTTP connection, or begins a TLS handshake, with its first bytes. Most connections of an attacker never send any. So
 * they get no parser and no buffers, and the process accepts the connection of a prober behind thousands of them sooner.
 */
export class SilentConnection implements Closable {
  readonly #socket: Socket;
  #connection: Closable | undefined;

  constructor({ socket, connections, timeoutMs, open }: SilentConnectionOptions) {
    this.#socket = socket;
    const place = connections.add(this, socket.remoteAddress);
    const close = () => void socket.destroy();
    socket.setTimeout(timeoutMs);
    socket.once('timeout', close);
    socket.once('end', close);
    socket.on('error', () => {});
    socket.once('close', () => place.free());
    socket.once('data', bytes => {
      socket.off('end', close);
      socket.setTimeout(0);
      this.#connection = open(place, bytes);
    });
  }

  get isBusy(): boolean {
    return this.#connection?.isBusy ?? false;
  }

  destroy(): void {
    (this.#connection ?? this.#socket).destroy();
  }
}
