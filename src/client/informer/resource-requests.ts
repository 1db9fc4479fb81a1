import type { Clock } from '../../lib/clock.ts';
import { type ApiClient, ApiError, type ApiResponse, statusError } from '../index.ts';
import { type Query, type Resource, resourcePath } from './resource.ts';

export interface ResourceRequestsOptions {
  readonly client: ApiClient;
  readonly resource: Resource;
  /** The Accept header: content types, best first. */
  readonly accept: string;
  readonly clock: Clock;
}

/** Sends the requests of one resource, one at a time. */
export class ResourceRequests {
  readonly #options: ResourceRequestsOptions;
  #current: AbortController | undefined;

  constructor(options: ResourceRequestsOptions) {
    this.#options = options;
  }

  /** Sends a request and reads the answer. Rejects if the server refuses it, or if the answer takes too long. */
  async send<R>(query: Query, timeoutMs: number, read: (response: ApiResponse) => Promise<R>): Promise<R> {
    const { client, resource, accept, clock } = this.#options;
    const current = new AbortController();
    let isTooLate = false;
    const timer = clock.setTimer(timeoutMs, () => {
      isTooLate = true;
      current.abort();
    });
    this.#current = current;
    try {
      const response = await client.request({ path: resourcePath(resource, query), accept, signal: current.signal });
      if (response.status !== 200) throw await statusError(response);
      return await read(response);
    } catch (error) {
      if (!isTooLate) throw error;
      throw new ApiError('timeout', `the API server did not end its answer within ${Math.round(timeoutMs / 1000)} s`);
    } finally {
      timer.cancel();
      this.#current = undefined;
    }
  }

  /** Aborts the current request, if there is one. */
  abort(): void {
    this.#current?.abort();
  }
}
