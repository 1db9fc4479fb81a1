import { createServer as createHttp, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net';
import { type Certificate, certificates } from './certificates.ts';

export type AnyRequest = Http2ServerRequest | IncomingMessage;
export type AnyResponse = Http2ServerResponse | ServerResponse;
export type Handler = (request: AnyRequest, response: AnyResponse) => void;

export interface TestServerOptions {
  /** `h2` also takes what does not speak it, as an API server does. */
  readonly protocol?: 'h2' | 'https' | 'http';
  readonly certificate?: Certificate;
  /** Asks for client certificates. */
  readonly askCertificate?: boolean;
}

/** For tests: a server on loopback that answers as told. */
export class TestServer {
  readonly #server: Server;
  readonly sockets = new Set<Socket>();
  /** All HTTP/2 sessions that were begun. */
  readonly sessions: ServerHttp2Session[] = [];
  /** All requests that came. */
  readonly requests: AnyRequest[] = [];
  connections = 0;

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.connections++;
      this.sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  static async start(handler: Handler, options: TestServerOptions = {}): Promise<TestServer> {
    let server: TestServer;
    const answer: Handler = (request, response) => {
      server.requests.push(request);
      response.on('error', () => {});
      handler(request, response);
    };
    server = new TestServer(create(answer, options, session => server.sessions.push(session)));
    return server.#listen();
  }

  /** A server that only sees bytes. */
  static raw(handler: (socket: Socket) => void): Promise<TestServer> {
    return new TestServer(createTcp(handler)).#listen();
  }

  get port(): number {
    return addressOf(this.#server).port;
  }

  url(scheme = 'https', host = '127.0.0.1'): string {
    return `${scheme}://${host}:${this.port}`;
  }

  /** Ends everything at once. */
  close(): Promise<void> {
    for (const session of this.sessions) session.destroy();
    for (const socket of this.sockets) socket.destroy();
    return new Promise(resolve => this.#server.close(() => resolve()));
  }

  async #listen(): Promise<this> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }
}

function create(
  handler: Handler,
  options: TestServerOptions,
  onSession: (session: ServerHttp2Session) => void,
): Server {
  const { protocol = 'h2', certificate = certificates().server, askCertificate = false } = options;
  if (protocol === 'http') return createHttp(handler as RequestListener);
  const tls = { ...certificate, ca: certificates().ca.cert, requestCert: askCertificate, rejectUnauthorized: false };
  if (protocol === 'https') return createHttps(tls, handler as RequestListener);
  const server = createSecureServer({ ...tls, allowHTTP1: true }, handler);
  server.on('session', session => {
    session.on('error', () => {});
    onSession(session);
  });
  server.on('sessionError', () => {});
  return server;
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server does not listen');
  return address;
}
