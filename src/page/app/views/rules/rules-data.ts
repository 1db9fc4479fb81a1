import { useEffect, useRef, useState } from 'preact/hooks';
import type { RulesAnswer } from '../../../../inspect/index.ts';
import { ask } from '../../api.ts';
import { onLive } from '../../state/live.ts';
import { keyOf } from '../../state/services.ts';

/** Several changes of a Service often come together. One question serves them all. */
const ASK_AGAIN_MS = 500;

export interface RulesData {
  /** The last answer, also while the next one comes. */
  readonly answer: RulesAnswer | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly retry: () => void;
}

type State = Omit<RulesData, 'retry'>;

/** Asks for the listing, and again when the Service changes, or when the proxy is back. */
export function useRules(family: string | undefined, service: string | undefined): RulesData {
  const [state, setState] = useState<State>({ answer: undefined, error: undefined, isLoading: true });
  const [round, setRound] = useState(0);
  const isAnswered = useRef(false);
  const retry = () => setRound(number => number + 1);
  useEffect(() => {
    const stop = new AbortController();
    setState(({ answer }) => ({ answer, error: undefined, isLoading: true }));
    ask<RulesAnswer>('v1/rules', { family, service }, stop.signal)
      .then(
        answer => setState({ answer, error: undefined, isLoading: false }),
        error => {
          if (!stop.signal.aborted) setState({ answer: undefined, error, isLoading: false });
        },
      )
      .finally(() => {
        isAnswered.current = true;
      });
    return () => stop.abort();
  }, [family, service, round]);
  useEffect(() => onServiceChange(service, retry), [service]);
  useEffect(() => onLive('hello', () => isAnswered.current && retry()), []);
  return { ...state, retry };
}

function onServiceChange(service: string | undefined, changed: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = onLive('rows', ({ rows, removed }) => {
    if (service === undefined || timer !== undefined) return;
    if (!removed.includes(service) && !rows.some(row => keyOf(row) === service)) return;
    timer = setTimeout(() => {
      timer = undefined;
      changed();
    }, ASK_AGAIN_MS);
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}
