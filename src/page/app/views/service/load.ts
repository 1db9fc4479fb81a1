import { type Signal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { ApiError, ask } from '../../api.ts';
import { onServiceChange } from '../../state/service-changes.ts';
import { Refresher } from './refresher.ts';

/** An answer of the proxy, and how it came to be. While the page reads again, the former answer stays. */
export interface Loaded<Answer> {
  readonly answer?: Answer | undefined;
  /** When the answer came, in milliseconds since 1970. */
  readonly at?: number | undefined;
  /** How long the reading took, in milliseconds. */
  readonly tookMs?: number | undefined;
  /** Why the last reading failed. */
  readonly error?: unknown;
  readonly isReading: boolean;
}

export interface Source<Answer> {
  readonly state: Signal<Loaded<Answer>>;
  readonly readAgain: () => void;
}

interface SourceOptions {
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** `ns/name`: a change of this Service makes the page read again. */
  readonly service: string;
  readonly everyMs: number;
}

/** Asks the proxy now, and again whenever the Service changes, while the component is shown. */
export function useSource<Answer>({ path, parameters, service, everyMs }: SourceOptions): Source<Answer> {
  const state = useMemo(() => signal<Loaded<Answer>>({ isReading: true }), [path, service]);
  const refresher = useMemo(
    () =>
      new Refresher({
        everyMs,
        read: async abort => {
          state.value = { ...state.value, isReading: true };
          const start = performance.now();
          try {
            const answer = await ask<Answer>(path, parameters, abort);
            state.value = { answer, at: Date.now(), tookMs: performance.now() - start, isReading: false };
          } catch (error) {
            if (!abort.aborted) state.value = { ...state.value, error, isReading: false };
          }
        },
      }),
    [path, service],
  );
  useEffect(() => {
    refresher.request();
    const end = onServiceChange(service, () => refresher.request());
    return () => {
      end();
      refresher.close();
    };
  }, [refresher]);
  return { state, readAgain: () => refresher.request() };
}

/** The proxy knows no such Service. */
export function isMissing(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 400 || error.status === 404);
}
