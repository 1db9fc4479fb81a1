import { type ApiClient, type ApiResponse, errorFromResponse } from '../../client/index.ts';
import { JsonLines } from '../../client/informer/index.ts';
import { fieldsOf } from '../../lib/is-record.ts';
import { parseJson } from '../../lib/parse-json.ts';

const JSON_TYPE = 'application/json';
const PAGE_SIZE = '500';
/** Five million objects. */
const MAX_PAGES = 10_000;

/** Reads objects of an API server as JSON. All requests end when the signal aborts. */
export class ApiReader {
  readonly #client: ApiClient;
  readonly #signal: AbortSignal;

  constructor(client: ApiClient, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** Undefined if there is no such object. */
  async get(path: string): Promise<unknown> {
    const response = await this.#request(path);
    if (response.status === 404) {
      await errorFromResponse(response);
      return undefined;
    }
    return await bodyOf(response);
  }

  /** Calls `emit` for each object of a list. Returns the version of the list. */
  async list(path: string, query: Readonly<Record<string, string>>, emit: (item: unknown) => void): Promise<string> {
    let token = '';
    for (let page = 0; page < MAX_PAGES; page++) {
      const parameters = new URLSearchParams({ ...query, limit: PAGE_SIZE, ...(token !== '' && { continue: token }) });
      const body = fieldsOf(await bodyOf(await this.#request(`${path}?${parameters}`)));
      if (!Array.isArray(body.items) && body.items !== null) throw new Error(`the answer to ${path} is no list`);
      for (const item of body.items ?? []) emit(item);
      const { resourceVersion, continue: next } = fieldsOf(body.metadata);
      if (typeof next !== 'string' || next === '') return typeof resourceVersion === 'string' ? resourceVersion : '';
      token = next;
    }
    throw new Error(`the list ${path} has no end`);
  }

  /** Calls `emit` for each event of a watch, until the server ends it. */
  async watch(path: string, resourceVersion: string, emit: (type: unknown, object: unknown) => void): Promise<void> {
    const parameters = new URLSearchParams({ watch: 'true', resourceVersion });
    const response = await this.#request(`${path}?${parameters}`);
    if (response.status !== 200) throw await errorFromResponse(response);
    const lines = new JsonLines();
    for await (const chunk of response.body) {
      lines.push(chunk, line => {
        const { type, object } = fieldsOf(parseJson(line));
        if (type === 'ERROR') throw new Error('the API server ended the watch with an error');
        emit(type, object);
      });
      if (lines.broken) throw new Error('the watch sent an event that is too long');
    }
  }

  #request(path: string): Promise<ApiResponse> {
    return this.#client.request({ path, accept: JSON_TYPE, signal: this.#signal });
  }
}

async function bodyOf(response: ApiResponse): Promise<unknown> {
  if (response.status !== 200) throw await errorFromResponse(response);
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return parseJson(Buffer.concat(chunks).toString('utf8'));
}
