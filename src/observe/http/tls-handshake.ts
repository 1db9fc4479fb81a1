import type { Socket } from 'node:net';
import { type SecureContext, TLSSocket } from 'node:tls';
import { startDeadline } from '../../lib/deadline.ts';
import type { Closable } from './connection-table.ts';
import type { HttpConnection } from './http-connection.ts';

export interface TlsHandshakeOptions {
  readonly socket: Socket;
  /** The first bytes that the peer sent. */
  readonly bytes: Buffer;
  readonly context: SecureContext;
  /** Closes the connection if the handshake takes longer, however many bytes come meanwhile. */
  readonly timeoutMs: number;
  /** The handshake has succeeded. */
  readonly open: (secure: TLSSocket) => HttpConnection;
}

/** A connection that becomes an HTTP connection when the TLS handshake is done. */
export class TlsHandshake implements Closable {
  readonly #secure: TLSSocket;
  #connection: HttpConnection | undefined;

  constructor({ socket, bytes, context, timeoutMs, open }: TlsHandshakeOptions) {
    // TLS takes over what the plain connection has read.
    socket.pause();
    socket.unshift(bytes);
    const secure = new TLSSocket(socket, { isServer: true, secureContext: context, ALPNProtocols: ['http/1.1'] });
    const deadline = startDeadline(timeoutMs, () => void secure.destroy());
    this.#secure = secure;
    secure.on('error', () => void secure.destroy());
    secure.once('close', () => deadline.stop());
    secure.once('secure', () => {
      deadline.stop();
      // A handshake costs the server far more than the peer.
      secure.disableRenegotiation();
      this.#connection = open(secure);
    });
  }

  get isBusy(): boolean {
    return this.#connection?.isBusy ?? false;
  }

  destroy(): void {
    (this.#connection ?? this.#secure).destroy();
  }
}
