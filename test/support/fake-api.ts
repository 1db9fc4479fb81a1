import assert from 'node:assert/strict';
import {
  type ApiClient,
  ApiError,
  type ApiErrorCode,
  type ApiRequest,
  type ApiResponse,
} from '../../src/client/index.ts';

const JSON_TYPE = 'application/json';

/** For tests: an API server whose answers the test decides, including failures that a real one rarely has. */
export class FakeApi implements ApiClient {
  readonly requests: FakeRequest[] = [];
  #waiting: FakeRequest[] = [];

  request(request: ApiRequest): Promise<ApiResponse> {
    const fake = new FakeRequest(request);
    this.requests.push(fake);
    this.#waiting.push(fake);
    return fake.response;
  }

  /** Takes the first request that no call has taken yet. Its path must have this ending. */
  next(ending = ''): FakeRequest {
    const found = this.#waiting.find(({ path }) => path.endsWith(ending));
    assert.ok(found, `there is no new request whose path ends with "${ending}"`);
    this.#waiting = this.#waiting.filter(request => request !== found);
    return found;
  }

  /** Whether `next` would return a request. */
  has(ending: string): boolean {
    return this.#waiting.some(({ path }) => path.endsWith(ending));
  }

  /** How many requests no call of `next` has taken yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  close(): void {}
}

export class FakeRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly accept: string;
  readonly response: Promise<ApiResponse>;
  isAborted = false;
  readonly #body: FakeBody;
  #resolve: (response: ApiResponse) => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor({ path, accept, signal }: ApiRequest) {
    const [resource = '', query = ''] = path.split('?');
    this.path = resource;
    this.query = Object.fromEntries(new URLSearchParams(query));
    this.accept = accept;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#body = new FakeBody();
    signal?.addEventListener('abort', () => {
      this.isAborted = true;
      this.fail('aborted', 'aborted');
    });
  }

  /** Answers with a status and headers. The body follows with `send` and `end`. */
  answer(status = 200, contentType: string = JSON_TYPE, headers: Readonly<Record<string, string>> = {}): void {
    this.#resolve({ status, headers: { 'content-type': contentType, ...headers }, body: this.#body });
  }

  send(...chunks: readonly (Uint8Array | string | object)[]): void {
    for (const chunk of chunks) this.#body.push(toBytes(chunk));
  }

  end(): void {
    this.#body.end();
  }

  /** Breaks the connection, before the answer or in the middle of it. `errno` is the error of the socket. */
  fail(code: ApiErrorCode, message: string, errno?: string): void {
    const cause = errno === undefined ? undefined : Object.assign(new Error(errno), { code: errno });
    const error = new ApiError(code, message, { cause });
    this.#reject(error);
    this.#body.fail(error);
  }

  /** Sends a complete answer. */
  reply(body: Uint8Array | string | object, status = 200, headers: Readonly<Record<string, string>> = {}): void {
    this.answer(status, JSON_TYPE, headers);
    this.send(body);
    this.end();
  }

  refuse(code: number, reason: string, message: string, headers: Readonly<Record<string, string>> = {}): void {
    this.reply(status(code, reason, message), code, headers);
  }
}

export function status(code: number, reason: string, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message };
}

/** Writes an object as a line of JSON. */
function toBytes(chunk: Uint8Array | string | object): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  return Buffer.from(typeof chunk === 'string' ? chunk : `${JSON.stringify(chunk)}\n`);
}

class FakeBody implements AsyncIterable<Uint8Array> {
  readonly #chunks: Uint8Array[] = [];
  #end: Error | 'end' | undefined;
  #wake: () => void = () => {};

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#wake();
  }

  end(): void {
    this.#end ??= 'end';
    this.#wake();
  }

  fail(error: Error): void {
    this.#end ??= error;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) yield chunk;
      else if (this.#end instanceof Error) throw this.#end;
      else if (this.#end === 'end') return;
      else
        await new Promise<void>(resolve => {
          this.#wake = resolve;
        });
    }
  }
}
