import { signal } from '@preact/signals';
import type { HistoryRow } from '../../../../inspect/index.ts';
import { askLines } from '../../api.ts';
import { addHistory } from '../../state/history.ts';

interface Head {
  readonly schema: string;
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
    for await (const lines of askLines<HistoryRow | Head>('v1/history', {}, controller.signal)) {
      addHistory(lines.filter(line => !isHead(line)) as readonly HistoryRow[]);
    }
    failure.value = undefined;
    isRead.value = true;
  } catch (error) {
    if (!controller.signal.aborted) failure.value = error;
  }
}

export function stopReading(): void {
  reading?.abort();
}

/** Also takes what the head says. */
function isHead(line: HistoryRow | Head): line is Head {
  if (!('schema' in line)) return false;
  if (line.startedAt !== undefined) startedAt.value = Date.parse(line.startedAt);
  return true;
}
