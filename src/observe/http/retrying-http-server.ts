import { type Clock, systemClock, type Timer } from '../../lib/clock.ts';
import { errorCode } from '../../lib/error-code.ts';
import { asError } from '../../lib/error-text.ts';
import { ANY_IP, isUnspecified } from '../../net/index.ts';
import { HttpServer, type HttpServerOptions } from './http-server.ts';
import { ListenError } from './listen-error.ts';

const RETRY_MS = 5000;
/** The kernel's errors for an IPv6 socket or address on a machine without IPv6. */
const NO_IPV6 = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL', 'EPROTONOSUPPORT']);

export interface RetryingHttpServerOptions extends Omit<HttpServerOptions, 'onError' | 'family'> {
  /** Do not retry after a failure. */
  readonly hardFail: boolean;
  /** The server could not listen on its address, or the listener broke. Without `hardFail` it retries every 5 s. */
  readonly onError: (error: Error) => void;
  readonly clock?: Clock | undefined;
}

/**
 * An HTTP server that retries until it can listen on its address. Another program may hold the port for a while, such
 * as an earlier process of this proxy. A wildcard address of either family means both families.
 */
export class RetryingHttpServer {
  readonly #options: RetryingHttpServerOptions;
  readonly #clock: Clock;
  #server: HttpServer | undefined;
  #retry: Timer | undefined;
  #closed = false;

  constructor(options: RetryingHttpServerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Resolves after the first attempt, whether it succeeded or failed. */
  async start(): Promise<void> {
    try {
      const server = await this.#open();
      if (this.#closed) server.close();
      else this.#server = server;
    } catch (error) {
      this.#fail(asError(error));
    }
  }

  /** Undefined while the server does not listen. */
  get port(): number | undefined {
    return this.#server?.port;
  }

  close(): void {
    this.#closed = true;
    this.#retry?.cancel();
    this.#server?.close();
    this.#server = undefined;
  }

  async #open(): Promise<HttpServer> {
    const { hardFail: _, clock: __, ip, ...rest } = this.#options;
    const options = { ...rest, onError: (error: Error) => this.#fail(error) };
    if (!isUnspecified(ip)) return HttpServer.open({ ...options, ip });
    try {
      return await HttpServer.open({ ...options, ip: ANY_IP.IPv6 });
    } catch (error) {
      // The error names the address that the operator configured, which may be 0.0.0.0.
      if (!NO_IPV6.has(errnoOf(error))) throw error instanceof ListenError ? error.at({ ...options, ip }) : error;
      return HttpServer.open({ ...options, ip: ANY_IP.IPv4 });
    }
  }

  #fail(error: Error): void {
    if (this.#closed) return;
    this.#server = undefined;
    if (!this.#options.hardFail) this.#retry = this.#clock.setTimer(RETRY_MS, () => void this.start());
    this.#options.onError(error);
  }
}

function errnoOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('errno' in error && typeof error.errno === 'string') return error.errno;
  return errorCode(error) ?? '';
}
