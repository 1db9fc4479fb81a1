import './ask.css';
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Explanation } from '../../../../explain/index.ts';
import { address, go } from '../../address.ts';
import { ApiError, ask } from '../../api.ts';
import { Answer } from './answer.tsx';
import { AskForm } from './ask-form.tsx';
import type { AskedTexts } from './question.ts';
import { stopTrace } from './trace-run.ts';

/** What became of the question in the address. */
export interface AskState {
  readonly phase: 'none' | 'asking' | 'answered' | 'failed';
  readonly asked: AskedTexts;
  readonly isProbing: boolean;
  readonly answer?: Explanation | undefined;
  /** When the answer came, in milliseconds since 1970. */
  readonly at?: number | undefined;
  readonly error?: ApiError | undefined;
}

const NONE: AskState = { phase: 'none', asked: { from: '', to: '' }, isProbing: false };
const state = signal<AskState>(NONE);
let running: AbortController | undefined;

/** Asks what a connection gets, and shows the answer. The address has the question, so that it can be shared. */
export function AskView() {
  const { from = '', to = '' } = address.value.parameters;
  useEffect(() => {
    if (to === '') state.value = NONE;
    else if (!isAnswered({ from, to })) void run({ from, to });
  }, [from, to]);
  useEffect(
    () => () => {
      running?.abort();
      if (state.value.phase === 'asking') state.value = NONE;
      stopTrace();
    },
    [],
  );
  return (
    <section class="view ask" aria-labelledby="ask-title">
      <h1 id="ask-title">Ask</h1>
      <AskForm asked={{ from, to }} state={state.value} onAsk={onAsk} />
      <Answer state={state.value} onAgain={probe => void run({ from, to }, probe)} />
    </section>
  );
}

/** The same question again is asked again. */
function onAsk(asked: AskedTexts): void {
  const { from = '', to = '' } = address.value.parameters;
  if (from === asked.from && to === asked.to) void run(asked);
  else go({ view: 'ask', parameters: { ...asked } });
}

function isAnswered({ from, to }: AskedTexts): boolean {
  const { phase, asked } = state.value;
  return (phase === 'answered' || phase === 'asking') && asked.from === from && asked.to === to;
}

async function run(asked: AskedTexts, isProbing = false): Promise<void> {
  running?.abort();
  stopTrace();
  const controller = new AbortController();
  running = controller;
  const { answer, at } = state.value;
  const isSame = state.value.asked.from === asked.from && state.value.asked.to === asked.to;
  // The former answer stays until the next one is there, so that nothing jumps.
  state.value = { phase: 'asking', asked, isProbing, ...(isSame && { answer, at }) };
  const from = asked.from === '' ? undefined : asked.from;
  try {
    const parameters = { from, to: asked.to, probe: isProbing ? 'true' : undefined };
    const found = await ask<Explanation>('v1/explain', parameters, controller.signal);
    state.value = { phase: 'answered', asked, isProbing, answer: found, at: Date.now() };
  } catch (error) {
    if (controller.signal.aborted) return;
    state.value = { phase: 'failed', asked, isProbing, error: asApiError(error) };
  }
}

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(error instanceof Error ? error.message : String(error));
}
