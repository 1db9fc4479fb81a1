import type { AddressInfo } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { type Clock, systemClock } from '../lib/clock.ts';
import { errorCode } from '../lib/error-code.ts';
import { rememberSecret } from '../lib/secrets.ts';
import { isUnspecified, joinHostPort } from '../net/index.ts';
import {
  ConnectionTable,
  type HttpHandler,
  type HttpServerTls,
  type Listen,
  listenHere,
  RetryingHttpServer,
} from '../observe/http/index.ts';
import { guarded } from './guard.ts';
import { PAGE_HEADERS } from './headers.ts';
import { PeerRates } from './peer-rates.ts';
import { RotatedFiles } from './rotated-files.ts';
import type { PageAddress, PageFiles } from './settings.ts';
import { type PageToken, parseToken } from './token.ts';

/** A browser opens six connections at most. These do not take the places of probers and scrapers. */
const MAX_CONNECTIONS = 64;
/** A handshake costs about a millisecond. */
const HANDSHAKES = { burst: 50, everyMs: 100 };

export interface PageServerOptions {
  readonly address: PageAddress;
  /** The names of this machine, the one for the URL first. */
  readonly hostNames: readonly string[];
  readonly handle: HttpHandler;
  /** By default the page listens in the network namespace of this process. */
  readonly listen?: Listen | undefined;
  /** Do not retry if the server cannot listen on its address, or cannot use its files. */
  readonly hardFail: boolean;
  readonly onListen: (url: string) => void;
  /** The page is not served. */
  readonly onError: (error: Error) => void;
  /** The page is served with its former certificate or token, because the new files are wrong. */
  readonly onFileError: (error: Error) => void;
  readonly clock?: Clock | undefined;
}

/** Serves the page on one address: only to those who may see it, and with all headers that protect it. */
export class PageServer {
  readonly #server: RetryingHttpServer;

  constructor(options: PageServerOptions) {
    const { address, hostNames, hardFail, onError, clock = systemClock } = options;
    const secrets = address.files && secretsOf(address.files, options.onFileError, clock);
    const token = secrets && (() => secrets.token.get());
    const names = hostNames.map(name => name.toLowerCase());
    this.#server = new RetryingHttpServer({
      ip: address.ip,
      port: address.port,
      handle: guarded(options.handle, { token, hostNames: names, clock }),
      headers: PAGE_HEADERS,
      connections: new ConnectionTable(MAX_CONNECTIONS),
      ...(secrets && { tls: tlsOf(secrets, clock) }),
      listen: listenFor(options, secrets),
      hardFail,
      onError,
      clock,
    });
  }

  /** Resolves after the first attempt, whether it succeeded or failed. */
  start(): Promise<void> {
    return this.#server.start();
  }

  /** Undefined while the page is not served. */
  get port(): number | undefined {
    return this.#server.port;
  }

  close(): void {
    this.#server.close();
  }
}

interface Secrets {
  readonly context: RotatedFiles<SecureContext>;
  readonly token: RotatedFiles<PageToken>;
}

function secretsOf(
  { certFile, keyFile, tokenFile }: PageFiles,
  onError: (error: Error) => void,
  clock: Clock,
): Secrets {
  return {
    context: new RotatedFiles({
      paths: [certFile, keyFile],
      parse: ([cert = '', key = '']) => {
        rememberSecret(key);
        return secureContext(cert, key, certFile, keyFile);
      },
      onError,
      clock,
    }),
    token: new RotatedFiles({
      paths: [tokenFile],
      parse: ([text = '']) => parseToken(tokenFile, text),
      onError,
      clock,
    }),
  };
}

function secureContext(cert: string, key: string, certFile: string, keyFile: string): SecureContext {
  try {
    return createSecureContext({ cert, key, minVersion: 'TLSv1.2' });
  } catch (error) {
    throw new Error(`${certFile} and ${keyFile} are not a certificate and its key in PEM`, { cause: error });
  }
}

function tlsOf({ context }: Secrets, clock: Clock): HttpServerTls {
  const handshakes = new PeerRates(HANDSHAKES, clock);
  return { context: () => context.get(), admits: peer => handshakes.take(peer) };
}

/** Listens only with files that are right. */
function listenFor(options: PageServerOptions, secrets: Secrets | undefined): Listen {
  const { address, hostNames, onListen, listen = listenHere } = options;
  return async (wanted, onConnection) => {
    secrets?.context.get();
    secrets?.token.get();
    const listener = await listen(wanted, onConnection).catch(error => {
      if (!address.mayUseOtherPort || errorCode(error) !== 'EADDRINUSE') throw error;
      return listen({ ...wanted, port: 0 }, onConnection);
    });
    const { port } = listener.address() as AddressInfo;
    const host = isUnspecified(address.ip) ? (hostNames[0] ?? address.ip) : address.ip;
    onListen(`${secrets ? 'https' : 'http'}://${joinHostPort(host, port)}/`);
    return listener;
  };
}
