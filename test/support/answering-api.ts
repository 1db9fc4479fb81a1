import type { ApiClient, ApiRequest } from '../../src/client/index.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A Lease, as far as tests read it. */
interface SentObject {
  readonly metadata: { readonly annotations: Readonly<Record<string, string | null>> };
  readonly spec: { readonly renewTime: string };
}

export interface AnsweringApi {
  readonly requests: ApiRequest[];
  /** The test may replace it. */
  answer: (request: ApiRequest) => Answer;
  /** The object that a request sent. */
  object(index: number): SentObject;
  readonly client: ApiClient;
}

/** For tests: an API server that answers each request at once. */
export function answeringApi(first: (request: ApiRequest) => Answer): AnsweringApi {
  const requests: ApiRequest[] = [];
  const api: AnsweringApi = {
    requests,
    answer: first,
    object: index => JSON.parse(Buffer.from(requests[index]?.body ?? []).toString('utf8')),
    client: {
      async request(request) {
        requests.push(request);
        const { status, body } = api.answer(request);
        return { status, headers: { 'content-type': 'application/json' }, body: bytes(body) };
      },
      close() {},
    },
  };
  return api;
}

async function* bytes(text: string): AsyncGenerator<Uint8Array, void> {
  yield Buffer.from(text);
}
