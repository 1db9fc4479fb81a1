import { useEffect, useState } from 'preact/hooks';
import type { HistoryRow } from '../../../../../inspect/index.ts';
import { askRows } from '../../../api.ts';
import { mergeEntries } from '../../../state/history.ts';
import { onLive } from '../../../state/live.ts';

export interface ServiceHistory {
  /** The oldest first. Undefined until they came. */
  readonly rows: readonly HistoryRow[] | undefined;
  readonly error: unknown;
  readonly retry: () => void;
}

const MAX_ROWS = 500;

/** What happened to a Service, as far as the proxy remembers, and as it happens. */
export function useHistory(service: string): ServiceHistory {
  const [rows, setRows] = useState<readonly HistoryRow[] | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    const add = (added: readonly HistoryRow[]) => setRows(known => mergeEntries(known ?? [], added, MAX_ROWS));
    const list = () => {
      listHistory(service, abort.signal).then(
        listed => {
          add(listed);
          setError(undefined);
        },
        thrown => abort.signal.aborted || setError(thrown),
      );
    };
    const ends = [
      onLive('history', ({ entries }) => {
        const own = entries.filter(entry => entry.service === service);
        if (own.length > 0) add(own);
      }),
      onLive('hello', list),
      onLive('relist', list),
    ];
    list();
    return () => {
      abort.abort();
      for (const end of ends) end();
    };
  }, [service, attempt]);
  return { rows, error, retry: () => setAttempt(attempt + 1) };
}

async function listHistory(service: string, signal: AbortSignal): Promise<readonly HistoryRow[]> {
  const rows: HistoryRow[] = [];
  for await (const some of askRows<HistoryRow>('v1/history', { service, limit: String(MAX_ROWS) }, signal)) {
    rows.push(...some);
  }
  return rows;
}
