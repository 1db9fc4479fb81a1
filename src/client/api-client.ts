/** A request to the API server. */
export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | undefined;
  /** With the query: `/api/v1/services?watch=true`. */
  readonly path: string;
  /** Content types that are understood, best first. */
  readonly accept: string;
  readonly body?: Uint8Array | undefined;
  readonly contentType?: string | undefined;
  /** Ends the request, also while its body is read. */
  readonly signal?: AbortSignal | undefined;
}

export interface ApiResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Ends early by `return`; fails with an ApiError if the connection breaks. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Speaks to an API server: connection, credentials, rate limit. */
export interface ApiClient {
  /** Resolves with whatever status the server answers; rejects with an ApiError if there was no answer. */
  request(request: ApiRequest): Promise<ApiResponse>;
  close(): void;
}
