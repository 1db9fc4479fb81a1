import { signal } from '@preact/signals';
import type { HistoryRow } from '../../../../inspect/index.ts';
import { askRows } from '../../api.ts';
import { addHistory } from '../../state/history.ts';

interface Head {
  readonly startedAt?: string;
}

/** When the proxy began its history, in milliseconds since 1970. */
export const startedAt = signal<number | undefined>(undefined);

/** Why the history cannot be read. */
export const failure = signal<unknown>(undefined);
export const isRead = signal(false);

let reading: AbortController | undefined;

/** Reads the whole history. Later entries come with the live events. */
export async function readHistory(): Promise<void> {
  reading?.abort();
  const controller = new AbortController();
  reading = controller;
  try {
    for await (const rows of askRows<HistoryRow, Head>('v1/history', {}, controller.signal, takeHead)) addHistory(rows);
    failure.value = undefined;
    isRead.value = true;
  } catch (error) {
    if (!controller.signal.aborted) failure.value = error;
  }
}

export function stopReading(): void {
  reading?.abort();
}

function takeHead(head: Head): void {
  if (head.startedAt !== undefined) startedAt.value = Date.parse(head.startedAt);
}
