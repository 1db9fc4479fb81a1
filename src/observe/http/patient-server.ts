import { type Clock, systemClock, type Timer } from '../../lib/clock.ts';
import { errorCode } from '../../lib/error-code.ts';
import { asError } from '../../lib/error-text.ts';
import { ANY_IP, isUnspecified } from '../../net/index.ts';
import { HttpServer, type HttpServerOptions } from './http-server.ts';
import { ListenError } from './listen-error.ts';

const RETRY_MS = 5000;
/** What a machine says to a socket or an address of IPv6 if it has none. */
const NO_IPV6 = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL', 'EPROTONOSUPPORT']);

export interface PatientServerOptions extends Omit<HttpServerOptions, 'failed' | 'family'> {
  /** The first failure is the last. */
  readonly hardFail: boolean;
  /** The address could not be listened on, or the listener broke. Without hardFail it is tried again, every 5 s. */
  readonly failed: (error: Error) => void;
  readonly clock?: Clock | undefined;
}

/**
 * A server of the proxy's own, on one address and on both families if that is a wildcard of either. It is not worth
 * ending the proxy for, unless the operator says so: someone else may hold the port for a while, such as a former
 * process of ours.
 */
export class PatientServer {
  readonly #options: PatientServerOptions;
  readonly #clock: Clock;
  #server: HttpServer | undefined;
  #retry: Timer | undefined;
  #closed = false;

  constructor(options: PatientServerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Resolves after the first try, whatever became of it. */
  async start(): Promise<void> {
    try {
      const server = await this.#open();
      if (this.#closed) server.close();
      else this.#server = server;
    } catch (error) {
      this.#failed(asError(error));
    }
  }

  /** Undefined while it does not listen. */
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
    const options = { ...rest, failed: (error: Error) => this.#failed(error) };
    if (!isUnspecified(ip)) return HttpServer.open({ ...options, ip });
    try {
      return await HttpServer.open({ ...options, ip: ANY_IP.IPv6 });
    } catch (error) {
      // Told by the name that the operator gave it.
      if (!NO_IPV6.has(errnoOf(error))) throw error instanceof ListenError ? error.at({ ...options, ip }) : error;
      return HttpServer.open({ ...options, ip: ANY_IP.IPv4 });
    }
  }

  #failed(error: Error): void {
    if (this.#closed) return;
    this.#server = undefined;
    if (!this.#options.hardFail) this.#retry = this.#clock.setTimer(RETRY_MS, () => void this.start());
    this.#options.failed(error);
  }
}

function errnoOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('errno' in error && typeof error.errno === 'string') return error.errno;
  return errorCode(error) ?? '';
}
