import { useEffect, useState } from 'preact/hooks';
import type { RulesAnswer } from '../../../../inspect/index.ts';
import { ask } from '../../api.ts';
import { onServiceChange } from '../../state/service-changes.ts';

/** Several changes of a Service often come together. One question serves them all. */
const ASK_AGAIN_MS = 500;

export interface RulesData {
  /** The last answer, also while the next one comes and after a question that failed. */
  readonly answer: RulesAnswer | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly retry: () => void;
}

type State = Omit<RulesData, 'retry'>;

/** Asks for the listing, and again when the Service changes or when the page may have missed something. */
export function useRules(family: string | undefined, service: string | undefined): RulesData {
  const [state, setState] = useState<State>({ answer: undefined, error: undefined, isLoading: true });
  const [round, setRound] = useState(0);
  const retry = () => setRound(number => number + 1);
  useEffect(() => {
    const stop = new AbortController();
    setState(({ answer }) => ({ answer, error: undefined, isLoading: true }));
    ask<RulesAnswer>('v1/rules', { family, service }, stop.signal).then(
      answer => setState({ answer, error: undefined, isLoading: false }),
      error => {
        if (!stop.signal.aborted) setState(({ answer }) => ({ answer, error, isLoading: false }));
      },
    );
    return () => stop.abort();
  }, [family, service, round]);
  useEffect(() => onChanges(service ?? '', retry), [service]);
  return { ...state, retry };
}

/** Calls back once for changes that come together. */
function onChanges(service: string, changed: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = onServiceChange(service, () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      changed();
    }, ASK_AGAIN_MS);
  });
  return () => {
    end();
    clearTimeout(timer);
  };
}
