/** What a client tells of its requests, as the metrics `rest_client_*` want it. `host` is the server's host and port. */
export type Observation =
  /** One try got an answer, or `<error>`: `requests_total`, and `request_retries_total` if `retry`. */
  | {
      readonly kind: 'attempt';
      readonly verb: string;
      readonly host: string;
      readonly code: string;
      readonly retry: boolean;
    }
  /** A turn was waited for: `rate_limiter_duration_seconds`. Watches wait for none. */
  | { readonly kind: 'rate-limited'; readonly verb: string; readonly host: string; readonly milliseconds: number }
  /** A request is over, its body included: `request_duration_seconds` and sizes. Not for watches. */
  | {
      readonly kind: 'request';
      readonly verb: string;
      readonly host: string;
      readonly code: string;
      readonly milliseconds: number;
      readonly requestBytes: number;
      readonly responseBytes: number;
    };

export type Observe = (observation: Observation) => void;

/** Tells when a body has ended, and how long it was. */
export function countedBody(
  body: AsyncIterable<Uint8Array>,
  done: (bytes: number) => void,
): AsyncIterableIterator<Uint8Array> {
  const source = body[Symbol.asyncIterator]();
  let bytes = 0;
  let open = true;
  const end = () => {
    if (open) done(bytes);
    open = false;
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      try {
        const result = await source.next();
        if (result.done) end();
        else bytes += result.value.length;
        return result;
      } catch (error) {
        end();
        throw error;
      }
    },
    async return() {
      end();
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
}
