import http2, { type ClientHttp2Session, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import { certificates } from '../../test/support/certificates.ts';
import { answerQuestions } from '../support/role.ts';
import type { Exchange, Tally } from './exchange.ts';

export const COUNTER = 'counter';
export const COUNTER_PORT = 8443;

/** Without this the counter would slow the connection down, and not the server or the client. */
const WINDOW = 16 << 20;
const { NGHTTP2_CANCEL } = http2.constants;

export interface CounterOptions {
  /** The URL of the API server. */
  readonly server: string;
  /** 0 means any free port. */
  readonly port: number;
  readonly key: string;
  readonly cert: string;
}

export type CounterQuestion = ({ readonly name: 'listen' } & CounterOptions) | { readonly name: 'tally' };

/** In its own process: passes requests on to an API server, and counts them and the bytes of their bodies. */
export function playCounter(): void {
  const counter = new Counter();
  answerQuestions(async (question: CounterQuestion) => {
    if (question.name === 'listen') return counter.listen(question);
    return counter.tally();
  });
}

/** Passes requests on. It speaks HTTP/2 with TLS on both sides, because bytes of TLS alone say nothing about resources. */
export class Counter {
  readonly #exchanges: Exchange[] = [];
  readonly #sockets: Socket[] = [];
  #server = '';
  #plain: Server | undefined;

  /** Returns the port. */
  async listen({ server, port, key, cert }: CounterOptions): Promise<number> {
    this.#server = server;
    const secure = http2.createSecureServer({ key, cert, settings: { initialWindowSize: WINDOW } });
    secure.on('session', session => this.#serve(session));
    // The plain socket counts what TLS adds, too.
    const plain = createServer(socket => {
      this.#sockets.push(socket);
      secure.emit('connection', socket);
    });
    this.#plain = plain;
    await new Promise<void>(resolve => plain.listen(port, '127.0.0.1', resolve));
    const address = plain.address();
    return typeof address === 'object' ? (address?.port ?? 0) : 0;
  }

  close(): void {
    this.#plain?.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  tally(): Tally {
    const wireBytes = this.#sockets.reduce((sum, { bytesRead, bytesWritten }) => sum + bytesRead + bytesWritten, 0);
    return { exchanges: this.#exchanges, connections: this.#sockets.length, wireBytes };
  }

  /** Each connection of a client has a connection of its own to the API server. */
  #serve(session: Http2Session): void {
    // The bench's own API server made its certificate itself. The bench trusts it.
    const target = http2.connect(this.#server, {
      rejectUnauthorized: false,
      settings: { initialWindowSize: WINDOW, enablePush: false },
    });
    target.on('connect', () => target.setLocalWindowSize(WINDOW));
    target.on('error', () => session.destroy());
    target.on('close', () => session.close());
    session.on('error', () => target.destroy());
    session.on('close', () => target.destroy());
    session.on('stream', (stream: ServerHttp2Stream, headers: http2.IncomingHttpHeaders) =>
      this.#pass(stream, headers, target),
    );
  }

  #pass(stream: ServerHttp2Stream, headers: http2.IncomingHttpHeaders, target: ClientHttp2Session): void {
    const exchange: Exchange = {
      method: headers[':method'] ?? '',
      path: headers[':path'] ?? '',
      userAgent: headers['user-agent'] ?? '',
      status: 0,
      contentType: '',
      contentEncoding: '',
      requestBytes: 0,
      responseBytes: 0,
    };
    this.#exchanges.push(exchange);
    const request = target.request(headers, { endStream: exchange.method === 'GET' });
    request.on('response', answer => {
      exchange.status = answer[':status'] ?? 0;
      exchange.contentType = answer['content-type'] ?? '';
      exchange.contentEncoding = answer['content-encoding'] ?? '';
      stream.respond(answer);
      request.pipe(stream);
    });
    request.on('data', (chunk: Buffer) => {
      exchange.responseBytes += chunk.length;
    });
    if (exchange.method !== 'GET') {
      stream.on('data', (chunk: Buffer) => {
        exchange.requestBytes += chunk.length;
      });
      stream.pipe(request);
    }
    const cancel = () => request.close(NGHTTP2_CANCEL);
    stream.on('aborted', cancel).on('error', cancel).on('close', cancel);
    request.on('error', () => stream.close(NGHTTP2_CANCEL));
  }
}

/** The certificate of the counter, and the CA that clients must trust. */
export function counterCertificate() {
  const { ca, server } = certificates();
  return { ca: ca.cert, key: server.key, cert: server.cert };
}
