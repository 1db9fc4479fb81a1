import { signal } from '@preact/signals';
import type { TraceHead, TraceLine } from '../../../index.ts';
import { ApiError, askLines } from '../../api.ts';
import type { AskedTexts } from './question.ts';
import { OPENING, stopped, type TraceState, withError, withLine } from './trace-state.ts';

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

/** Follows packets. The node sends one of its own if it is the caller, or if there is none. */
export async function startTrace({ from, to }: AskedTexts): Promise<void> {
  stopTrace();
  const controller = new AbortController();
  running = controller;
  trace.value = OPENING;
  const send = from === '' || from === 'node' ? 'true' : undefined;
  const parameters = { from: from === '' ? undefined : from, to, send };
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
