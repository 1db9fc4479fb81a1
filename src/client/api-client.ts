/** A request to the API server. */
export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | undefined;
  /** With the query: `/api/v1/services?watch=true`. */
  readonly path: string;
  /** The Accept header: content types, best first. */
  readonly accept: string;
  /** Further headers, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: Uint8Array | undefined;
  readonly contentType?: string | undefined;
  /** Aborts the request, even while the caller reads the body. */
  readonly signal?: AbortSignal | undefined;
}

export interface ApiResponse {
  readonly status: number;
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** `return` ends the transfer early. Reading fails with an ApiError if the connection breaks. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends requests to an API server. */
export interface ApiClient {
  /** Resolves with the answer, whatever its status is. Rejects with an ApiError if there is no answer. */
  request(request: ApiRequest): Promise<ApiResponse>;
  close(): void;
}
