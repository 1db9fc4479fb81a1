import { signal } from '@preact/signals';
import type { TraceHead, TraceLine } from '../../../index.ts';
import { ApiError, askLines } from '../../api.ts';
import { OPENING, stopped, type TraceState, withError, withLine } from './trace-state.ts';
import type { TraceQuestion } from './way.ts';

/** The trace that the page shows. Undefined before the first one. */
export const trace = signal<TraceState | undefined>(undefined);
let running: AbortController | undefined;

/** Ends the trace, and forgets it. */
export function stopTrace(): void {
  running?.abort();
  trace.value = undefined;
}

/** Ends the trace, and keeps what it has seen. */
export function endTrace(): void {
  running?.abort();
  if (trace.value) trace.value = stopped(trace.value);
}

/** Follows packets until the trace ends, or until the reader ends it. */
export async function startTrace({ from, to, isSent }: TraceQuestion): Promise<void> {
  stopTrace();
  const controller = new AbortController();
  running = controller;
  trace.value = OPENING;
  const parameters = { from: from === '' ? undefined : from, to, send: isSent ? 'true' : undefined };
  const update = (next: (state: TraceState) => TraceState) => {
    if (running === controller && trace.value) trace.value = next(trace.value);
  };
  try {
    for await (const lines of askLines<TraceHead | TraceLine>('v1/trace', parameters, controller.signal)) {
      update(state => lines.reduce(withLine, state));
    }
    update(stopped);
  } catch (error) {
    if (controller.signal.aborted) return;
    update(state => withError(state, error instanceof ApiError ? error.message : 'The proxy broke the trace off.'));
  }
}
