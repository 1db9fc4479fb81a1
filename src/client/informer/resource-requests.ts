import type { DecodeResult } from '../../api/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { type ApiClient, ApiError, type ApiResponse, errorFromResponse } from '../index.ts';
import { UnreadableError } from './encoding.ts';
import { readListPage } from './list-page.ts';
import { VERSION_QUERY } from './queries.ts';
import { type Query, type Resource, resourcePath } from './resource.ts';

export interface ResourceRequestsOptions {
  readonly client: ApiClient;
  readonly resource: Resource;
  /** The Accept header: content types, best first. */
  readonly accept: string;
  readonly clock: Clock;
}

const LIST_TIMEOUT_MS = 300_000;
const VERSION_TIMEOUT_MS = 30_000;
/** Five million objects. */
const MAX_PAGES = 10_000;

type EmitObject = (result: DecodeResult) => void;

/** Sends the requests of one resource, one at a time. */
export class ResourceRequests {
  readonly #options: ResourceRequestsOptions;
  readonly #onAnswer: () => void;
  #current: AbortController | undefined;

  /** Calls `onAnswer` for each answer that is not an error. */
  constructor(options: ResourceRequestsOptions, onAnswer: () => void) {
    this.#options = options;
    this.#onAnswer = onAnswer;
  }

  /** Reads all pages of a list. Returns the version of the list. */
  async list(first: Query, observe: (response: ApiResponse) => ApiResponse, emit: EmitObject): Promise<string> {
    const read = (response: ApiResponse) => readListPage(observe(response), this.#options.resource, emit);
    let page = await this.send(first, LIST_TIMEOUT_MS, read);
    for (let count = 1; page.continueToken !== ''; count++) {
      const next = await this.send({ limit: first.limit, continue: page.continueToken }, LIST_TIMEOUT_MS, read);
      if (count === MAX_PAGES || next.continueToken === page.continueToken) throw withoutEnd(count);
      page = next;
    }
    return page.resourceVersion;
  }

  /** The version that the server is at now. */
  async serverVersion(): Promise<string> {
    const read = (response: ApiResponse) => readListPage(response, this.#options.resource, () => {});
    return (await this.send(VERSION_QUERY, VERSION_TIMEOUT_MS, read)).resourceVersion;
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
      if (response.status !== 200) throw await errorFromResponse(response);
      this.#onAnswer();
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

function withoutEnd(pages: number): UnreadableError {
  return new UnreadableError(`the list has no end: the API server names yet another page after ${pages} pages`);
}
