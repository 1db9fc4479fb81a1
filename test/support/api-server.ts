import { createServer as createHttp, type IncomingMessage } from 'node:http';
import { createSecureServer, type Http2ServerRequest, type ServerHttp2Session } from 'node:http2';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net';
import { createServer as createTls, Server as TlsServer } from 'node:tls';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { type Certificate, certificates } from './certificates.ts';

export type AnyRequest = Http2ServerRequest | IncomingMessage;

/** The common part of the responses of HTTP/2 and HTTP/1.1. */
export interface AnyResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  writeHead(status: number, headers: Record<string, string>): unknown;
  write(chunk: string | Uint8Array): boolean;
  end(chunk?: string | Uint8Array): unknown;
  on(event: 'error' | 'close' | 'drain', listener: () => void): unknown;
}

export type Handler = (request: AnyRequest, response: AnyResponse) => void;

export interface TestServerOptions {
  /** A server with `h2` also accepts HTTP/1.1, like an API server. */
  readonly protocol?: 'h2' | 'https' | 'http';
  readonly certificate?: Certificate;
  /** The server asks for a client certificate. */
  readonly askCertificate?: boolean;
  /** Listens in this network namespace, at all its addresses. */
  readonly namespace?: NetworkNamespace;
}

/** For tests: a server on loopback whose answers a handler decides. */
export class TestServer {
  readonly #server: Server;
  readonly sockets = new Set<Socket>();
  /** All HTTP/2 sessions that clients have opened. */
  readonly sessions: ServerHttp2Session[] = [];
  /** All requests that clients have sent. */
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
    return server.#listen(options.namespace);
  }

  /** A TCP server. The handler reads and writes bytes. */
  static raw(handler: (socket: Socket) => void): Promise<TestServer> {
    return new TestServer(createTcp(handler)).#listen();
  }

  /** A TLS server that negotiates HTTP/2. The handler reads and writes bytes. */
  static rawTls(handler: (socket: Socket) => void): Promise<TestServer> {
    return new TestServer(createTls({ ...certificates().server, ALPNProtocols: ['h2'] }, handler)).#listen();
  }

  /** New connections get this certificate. */
  rotate(certificate: Certificate): void {
    if (this.#server instanceof TlsServer) this.#server.setSecureContext(certificate);
  }

  get port(): number {
    return addressOf(this.#server).port;
  }

  url(scheme = 'https', host = '127.0.0.1'): string {
    return `${scheme}://${host}:${this.port}`;
  }

  /** Ends all sessions and sockets at once. */
  close(): Promise<void> {
    for (const session of this.sessions) session.destroy();
    for (const socket of this.sockets) socket.destroy();
    return new Promise(resolve => this.#server.close(() => resolve()));
  }

  async #listen(namespace?: NetworkNamespace): Promise<this> {
    await new Promise<void>(resolve => {
      // Without a host, Node opens the socket inside the call, so the socket belongs to the namespace.
      if (namespace) namespace.run(() => void this.#server.listen(0, resolve));
      else this.#server.listen(0, '127.0.0.1', resolve);
    });
    return this;
  }
}

function create(
  handler: Handler,
  options: TestServerOptions,
  onSession: (session: ServerHttp2Session) => void,
): Server {
  const { protocol = 'h2', certificate = certificates().server, askCertificate = false } = options;
  if (protocol === 'http') return createHttp(handler);
  const tls = { ...certificate, ca: certificates().ca.cert, requestCert: askCertificate, rejectUnauthorized: false };
  if (protocol === 'https') return createHttps(tls, handler);
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
