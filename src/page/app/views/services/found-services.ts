import { signal } from '@preact/signals';
import { ask } from '../../api.ts';

const DELAY_MS = 200;
const MIN_LENGTH = 2;

/** What `/v1/search` answers: Services of which an endpoint or a pod matches. */
interface SearchAnswer {
  readonly results: readonly { readonly service: string; readonly reason: string }[];
}

/** `ns/name` and why the proxy found it, for the text that the box has now. */
export const found = signal<ReadonlyMap<string, string>>(new Map());

let timer: ReturnType<typeof setTimeout> | undefined;
let request: AbortController | undefined;

/** Asks the proxy for Services by endpoint or pod, when the operator stops typing. Only the last text counts. */
export function searchProxy(text: string): void {
  clearTimeout(timer);
  request?.abort();
  const word = text.trim();
  if (found.value.size > 0) found.value = new Map();
  if (word.length < MIN_LENGTH) return;
  timer = setTimeout(() => void run(word), DELAY_MS);
}

async function run(word: string): Promise<void> {
  request = new AbortController();
  const { signal } = request;
  // The names and addresses of Services are searched here, so the list is useful without this answer.
  const answer = await ask<SearchAnswer>('v1/search', { q: word }, signal).catch(() => undefined);
  if (!answer || signal.aborted) return;
  found.value = new Map(answer.results.map(({ service, reason }) => [service, reason]));
}
