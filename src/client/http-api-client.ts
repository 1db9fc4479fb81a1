import type { Clock } from '../lib/clock.ts';
import { errorText } from '../lib/error-text.ts';
import { sleep } from './abortable.ts';
import type { ApiRequest, ApiResponse } from './api-client.ts';
import type { ClientConfig } from './client-config.ts';
import type { ClientLog } from './client-log.ts';
import { type Credential, type CredentialSource, sameCredential } from './credentials/credentials.ts';
import { impersonationHeaders } from './impersonation.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { userAgent } from './request-headers.ts';
import { countedBody, type Observe } from './request-observation.ts';
import { addressOf } from './server-url.ts';
import { discard } from './status/status-error.ts';
import type { WireRequest } from './transport/connection.ts';
import type { Transport } from './transport/transport.ts';

/** How often an answer that asks to come back later is followed. */
const MOST_RETRIES = 10;
/** A server that wants to be left alone for longer is asked again all the same. */
const LONGEST_RETRY_AFTER_SECONDS = 60;
/** A turn that takes longer is told. */
const LONG_WAIT_MS = 1000;

export interface HttpApiClientParts {
  readonly config: ClientConfig;
  readonly acceptContentTypes: string;
  readonly contentType: string;
  readonly credentials: CredentialSource;
  readonly limiterOf: (path: string) => RateLimiter | undefined;
  readonly transport: Transport;
  readonly observe: Observe;
  readonly clock: Clock;
  readonly log: ClientLog;
}

/** Puts rate limit, credentials, retries and transport together. */
export class HttpApiClient {
  readonly host: string;
  readonly contentType: string;
  readonly #parts: HttpApiClientParts;
  readonly #headers: WireRequest['headers'];
  readonly #basePath: string;

  constructor(parts: HttpApiClientParts) {
    const { server, user } = parts.config;
    this.#parts = parts;
    this.host = addressOf(server);
    this.contentType = parts.contentType;
    this.#basePath = server.pathname.replace(/\/$/, '');
    this.#headers = { 'user-agent': userAgent(), ...impersonationHeaders(user.impersonate) };
  }

  accept(contentType: string = this.contentType): string {
    return this.#parts.acceptContentTypes || `${contentType}, */*`;
  }

  async request(request: ApiRequest): Promise<ApiResponse> {
    const started = this.#parts.clock.elapsed();
    if (isWatch(request.path)) return this.#try(request, false);
    try {
      const response = await this.#persist(request);
      const body = countedBody(response.body, bytes =>
        this.#finished(request, String(response.status), started, bytes),
      );
      return { ...response, body };
    } catch (error) {
      this.#finished(request, '<error>', started, 0);
      throw error;
    }
  }

  close(): void {
    this.#parts.transport.close();
  }

  /** Comes back later as long as the server asks for it. */
  async #persist(request: ApiRequest): Promise<ApiResponse> {
    for (let retries = 0; ; retries++) {
      await this.#takeTurn(request);
      const response = await this.#try(request, retries > 0);
      const seconds = retries < MOST_RETRIES ? retryAfter(response) : undefined;
      if (seconds === undefined) return response;
      await discard(response);
      this.#tellOfDelay(request, response.status, seconds);
      await sleep(seconds * 1000, this.#parts.clock, request.signal);
    }
  }

  #tellOfDelay({ path, method: verb = 'GET' }: ApiRequest, status: number, seconds: number): void {
    if (seconds === 0) return;
    const fields = { delay: `${seconds}s`, status, verb, path };
    this.#parts.log.info('The API server asks to come back later', fields);
  }

  async #takeTurn({ path, method: verb = 'GET', signal }: ApiRequest): Promise<void> {
    const milliseconds = (await this.#parts.limiterOf(path)?.wait(signal)) ?? 0;
    this.#parts.observe({ kind: 'rate-limited', verb, host: this.host, milliseconds });
    if (milliseconds < LONG_WAIT_MS) return;
    const reason = 'client-side throttling, not priority and fairness';
    this.#parts.log.info('Waited before sending request', { delay: `${milliseconds / 1000}s`, reason, verb, path });
  }

  async #try(request: ApiRequest, retry: boolean): Promise<ApiResponse> {
    let code = '<error>';
    try {
      const response = await this.#authenticated(request);
      code = String(response.status);
      return response;
    } finally {
      this.#parts.observe({ kind: 'attempt', verb: request.method ?? 'GET', host: this.host, code, retry });
    }
  }

  /** A credential that the server refuses may have been replaced meanwhile: it is fetched anew, and tried once more. */
  async #authenticated(request: ApiRequest): Promise<ApiResponse> {
    const { credentials } = this.#parts;
    const credential = await credentials.current();
    const response = await this.#send(request, credential);
    if (response.status !== 401) return response;
    let fresh: Credential;
    try {
      fresh = await credentials.refresh(credential);
    } catch (error) {
      this.#parts.log.error('Refreshing credentials failed', { err: errorText(error) });
      return response;
    }
    if (sameCredential(credential, fresh)) return response;
    await discard(response);
    return this.#send(request, fresh);
  }

  #send(request: ApiRequest, { authorization, certificate }: Credential): Promise<ApiResponse> {
    const { method = 'GET', path, accept, body, contentType = this.contentType, signal } = request;
    const { disableCompression } = this.#parts.config;
    const headers = {
      ...this.#headers,
      accept,
      // A list shrinks to a quarter, which the server's network and a far one feel; events of a watch are not compressed.
      ...(method === 'GET' && !disableCompression && !isWatch(path) && { 'accept-encoding': 'gzip' }),
      ...(authorization !== undefined && { authorization }),
      ...(body && { 'content-type': contentType }),
    };
    return this.#parts.transport.send({ method, path: this.#basePath + path, headers, body, signal }, certificate);
  }

  #finished({ method: verb = 'GET', body }: ApiRequest, code: string, started: number, responseBytes: number): void {
    const { observe, clock } = this.#parts;
    const milliseconds = clock.elapsed() - started;
    observe({
      kind: 'request',
      verb,
      host: this.host,
      code,
      milliseconds,
      requestBytes: body?.length ?? 0,
      responseBytes,
    });
  }
}

function isWatch(path: string): boolean {
  return /[?&]watch=(true|1)(&|$)/.test(path);
}

/** The seconds after which a busy or failing server wants to be asked again. */
function retryAfter({ status, headers }: ApiResponse): number | undefined {
  if (status !== 429 && status < 500) return undefined;
  const seconds = headers['retry-after'] ?? '';
  return /^\d+$/.test(seconds) ? Math.min(Number(seconds), LONGEST_RETRY_AFTER_SECONDS) : undefined;
}
