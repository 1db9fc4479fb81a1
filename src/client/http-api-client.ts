import type { Clock } from '../lib/clock.ts';
import { errorText } from '../lib/error-text.ts';
import { sleepUnlessAborted, unlessAborted } from './abortable.ts';
import type { ApiRequest, ApiResponse } from './api-client.ts';
import type { ClientConfig } from './client-config.ts';
import type { ClientLog } from './client-log.ts';
import { type Credential, type CredentialSource, sameCredential } from './credentials/credentials.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { impersonationHeaders, userAgent } from './request-headers.ts';
import { countedBody, type RequestObserver } from './request-observation.ts';
import { addressOf } from './server-url.ts';
import { discardBody } from './status/response-body.ts';
import type { WireRequest } from './transport/connection.ts';
import type { Transport } from './transport/transport.ts';

/** How often the client retries because the server asks for it. */
const MAX_RETRIES = 10;
/** The client waits no longer than this, even if the server asks for more. */
const MAX_RETRY_AFTER_SECONDS = 60;
/** The client logs a wait for the rate limit if it is at least this long. */
const LOGGED_WAIT_MS = 1000;

export interface HttpApiClientParts {
  readonly config: ClientConfig;
  readonly acceptContentTypes: string;
  readonly contentType: string;
  readonly credentials: CredentialSource;
  readonly limiterOf: (path: string) => RateLimiter | undefined;
  readonly transport: Transport;
  readonly observe: RequestObserver;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: ClientLog;
}

/** Adds rate limit, credentials and retries to a transport. */
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
    if (isWatch(request.path)) return this.#attempt(request, false);
    try {
      const response = await this.#requestWithRetries(request);
      const body = countedBody(response.body, bytes =>
        this.#observeEnd(request, String(response.status), started, bytes),
      );
      return { ...response, body };
    } catch (error) {
      this.#observeEnd(request, '<error>', started, 0);
      throw error;
    }
  }

  close(): void {
    this.#parts.transport.close();
  }

  /** Retries as long as the server asks for it. */
  async #requestWithRetries(request: ApiRequest): Promise<ApiResponse> {
    for (let retries = 0; ; retries++) {
      await this.#waitForRateLimit(request);
      const response = await this.#attempt(request, retries > 0);
      const wanted = retries < MAX_RETRIES ? retryAfterSeconds(response) : undefined;
      if (wanted === undefined) return response;
      await discardBody(response);
      // A busy server asks many clients for the same time. They should not come back at the same moment.
      const seconds = Number((wanted * (1 + this.#parts.random())).toFixed(3));
      this.#logDelay(request, response.status, seconds);
      await sleepUnlessAborted(seconds * 1000, this.#parts.clock, request.signal);
    }
  }

  #logDelay({ path, method: verb = 'GET' }: ApiRequest, status: number, seconds: number): void {
    if (seconds === 0) return;
    const fields = { delay: `${seconds}s`, status, verb, path };
    this.#parts.log.info('client', 'The API server asks to retry later', fields);
  }

  async #waitForRateLimit({ path, method: verb = 'GET', signal }: ApiRequest): Promise<void> {
    const milliseconds = (await this.#parts.limiterOf(path)?.wait(signal)) ?? 0;
    this.#parts.observe({ kind: 'rate-limited', verb, host: this.host, milliseconds });
    if (milliseconds < LOGGED_WAIT_MS) return;
    const reason = 'client-side throttling, not priority and fairness';
    this.#parts.log.info('client', 'Waited before sending request', {
      delay: `${milliseconds / 1000}s`,
      reason,
      verb,
      path,
    });
  }

  async #attempt(request: ApiRequest, retry: boolean): Promise<ApiResponse> {
    let code = '<error>';
    try {
      const response = await this.#sendWithCredential(request);
      code = String(response.status);
      return response;
    } finally {
      this.#parts.observe({ kind: 'attempt', verb: request.method ?? 'GET', host: this.host, code, retry });
    }
  }

  /** If the server refuses the credential, fetches it again. If it has changed, sends the request once more. */
  async #sendWithCredential(request: ApiRequest): Promise<ApiResponse> {
    const { credentials } = this.#parts;
    // A credential plugin may hang.
    const credential = await unlessAborted(credentials.current(), request.signal);
    const response = await this.#send(request, credential);
    if (response.status !== 401) return response;
    let fresh: Credential;
    try {
      fresh = await unlessAborted(credentials.refresh(credential), request.signal);
    } catch (error) {
      if (request.signal?.aborted) throw error;
      this.#parts.log.error('client', 'Could not refresh the credential', { err: errorText(error) });
      return response;
    }
    if (sameCredential(credential, fresh)) return response;
    await discardBody(response);
    return this.#send(request, fresh);
  }

  #send(request: ApiRequest, { authorization, certificate }: Credential): Promise<ApiResponse> {
    const { method = 'GET', path, accept, body, contentType = this.contentType, signal } = request;
    const { disableCompression } = this.#parts.config;
    const headers = {
      ...request.headers,
      ...this.#headers,
      accept,
      // Gzip makes a list four times smaller, which saves time on a slow network. Servers do not compress watches.
      ...(method === 'GET' && !disableCompression && !isWatch(path) && { 'accept-encoding': 'gzip' }),
      ...(authorization !== undefined && { authorization }),
      ...(body && { 'content-type': contentType }),
    };
    return this.#parts.transport.send({ method, path: this.#basePath + path, headers, body, signal }, certificate);
  }

  #observeEnd({ method: verb = 'GET', body }: ApiRequest, code: string, started: number, responseBytes: number): void {
    const { observe, clock } = this.#parts;
    const milliseconds = clock.elapsed() - started;
    const requestBytes = body?.length ?? 0;
    observe({ kind: 'request', verb, host: this.host, code, milliseconds, requestBytes, responseBytes });
  }
}

function isWatch(path: string): boolean {
  return /[?&]watch=(true|1)(&|$)/.test(path);
}

/** After how many seconds a busy or failing server wants a retry; undefined if it does not ask for one. */
function retryAfterSeconds({ status, headers }: ApiResponse): number | undefined {
  if (status !== 429 && status < 500) return undefined;
  const seconds = headers['retry-after'] ?? '';
  return /^\d+$/.test(seconds) ? Math.min(Number(seconds), MAX_RETRY_AFTER_SECONDS) : undefined;
}
