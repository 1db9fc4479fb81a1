import { signal } from '@preact/signals';
import type { SearchAnswer } from '../../../../inspect/index.ts';
import { ask } from '../../api.ts';
import { parseTarget } from './search.ts';

const DELAY_MS = 200;
const MIN_LENGTH = 2;

/** `ns/name` and why the proxy found it, for the text that the box has now. */
export const found = signal<ReadonlyMap<string, string>>(new Map());

let timer: ReturnType<typeof setTimeout> | undefined;
let request: AbortController | undefined;

/** Asks the proxy for Services by endpoint or pod, when the operator stops typing. Only the last text counts. */
export function searchProxy(text: string): void {
  clearTimeout(timer);
  request?.abort();
  const word = parseTarget(text.trim())?.ip ?? text.trim();
  if (found.value.size > 0) found.value = new Map();
  if (word.length < MIN_LENGTH) return;
  timer = setTimeout(() => void run(word), DELAY_MS);
}

async function run(word: string): Promise<void> {
  request = new AbortController();
  const { signal } = request;
  // Names and addresses of Services are searched here, so the list is useful without this answer.
  const answer = await ask<SearchAnswer>('v1/search', { q: word }, signal).catch(() => undefined);
  if (!answer || signal.aborted) return;
  found.value = new Map(answer.results.map(({ service, why }) => [service, why]));
}
