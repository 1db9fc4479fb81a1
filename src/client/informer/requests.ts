import type { Clock } from '../../lib/clock.ts';
import { type ApiClient, ApiError, type ApiResponse, statusError } from '../index.ts';
import { type Query, type Resource, resourcePath } from './resource.ts';

export interface RequestsOptions {
  readonly client: ApiClient;
  readonly resource: Resource;
  /** Content types that are asked for, best first. */
  readonly accept: string;
  readonly clock: Clock;
}

/** Asks for one resource, one request at a time. */
export class Requests {
  readonly #options: RequestsOptions;
  #current: AbortController | undefined;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** Makes a request and reads the answer. Rejects if the server refuses, or takes longer than it may. */
  async ask<R>(query: Query, longestMs: number, read: (response: ApiResponse) => Promise<R>): Promise<R> {
    const { client, resource, accept, clock } = this.#options;
    const current = new AbortController();
    let hangs = false;
    const timer = clock.setTimer(longestMs, () => {
      hangs = true;
      current.abort();
    });
    this.#current = current;
    try {
      const response = await client.request({ path: resourcePath(resource, query), accept, signal: current.signal });
      if (response.status !== 200) throw await statusError(response);
      return await read(response);
    } catch (error) {
      if (!hangs) throw error;
      throw new ApiError('timeout', `the server did not end its answer within ${Math.round(longestMs / 1000)} s`);
    } finally {
      timer.cancel();
      this.#current = undefined;
    }
  }

  /** Ends the request at hand. */
  abort(): void {
    this.#current?.abort();
  }
}
