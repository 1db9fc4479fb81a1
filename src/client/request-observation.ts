/** What the client reports about its requests for the metrics `rest_client_*`. `host` is the server's host and port. */
export type RequestObservation =
  /** One attempt ended with this status, or `<error>`: `requests_total`, and `request_retries_total` if `retry`. */
  | {
      readonly kind: 'attempt';
      readonly verb: string;
      readonly host: string;
      readonly code: string;
      readonly retry: boolean;
    }
  /** The wait for the rate limit is over: `rate_limiter_duration_seconds`. Watches do not wait. */
  | { readonly kind: 'rate-limited'; readonly verb: string; readonly host: string; readonly milliseconds: number }
  /** A request and its body are complete: `request_duration_seconds` and sizes. Not for watches. */
  | {
      readonly kind: 'request';
      readonly verb: string;
      readonly host: string;
      readonly code: string;
      readonly milliseconds: number;
      readonly requestBytes: number;
      readonly responseBytes: number;
    };

export type RequestObserver = (observation: RequestObservation) => void;

/** The same body. Calls `onEnd` once, when the body has ended in any way, with the number of bytes that came. */
export function countedBody(
  body: AsyncIterable<Uint8Array>,
  onEnd: (bytes: number) => void,
): AsyncIterableIterator<Uint8Array> {
  const source = body[Symbol.asyncIterator]();
  let bytes = 0;
  let isOpen = true;
  const end = () => {
    if (isOpen) onEnd(bytes);
    isOpen = false;
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
