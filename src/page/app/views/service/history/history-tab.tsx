import './history.css';
import { useMemo } from 'preact/hooks';
import { EmptyNote, ErrorNote, Loading } from '../../../parts/notes.tsx';
import { Age, ClockTime } from '../../../parts/time.tsx';
import { type HistoryItem, historyItems, type LatencyBar } from './history-rows.ts';
import type { ServiceHistory } from './use-history.ts';

/** What happened to the Service, the newest first, with the times from the event to the kernel. */
export function HistoryTab({ history: { rows, error, retry } }: { readonly history: ServiceHistory }) {
  const items = useMemo(() => historyItems(rows ?? []), [rows]);
  if (error !== undefined) return <ErrorNote title="The page cannot read the history." error={error} onRetry={retry} />;
  if (!rows) return <Loading what="the history" lines={8} />;
  if (items.length === 0) {
    return (
      <EmptyNote title="The proxy remembers no change of this Service.">
        It has been the same since before the oldest entry of the history, or since the proxy started.
      </EmptyNote>
    );
  }
  return (
    <div class="table-box">
      <table class="stacked history">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">What</th>
            <th scope="col">Change</th>
            <th scope="col">Cause</th>
            <th scope="col">From the event to the kernel</th>
          </tr>
        </thead>
        <tbody>
          {items.map(item => (
            <Row key={item.row.id} item={item} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ item: { row, word, tone, bar, latency } }: { readonly item: HistoryItem }) {
  return (
    <tr>
      <td data-column="Time" class="time">
        <span>
          <ClockTime time={row.time} />{' '}
          <span class="quiet small">
            <Age time={row.time} />
          </span>
        </span>
      </td>
      <td data-column="What">
        <span class={tone === 'plain' ? '' : tone}>
          {word} {row.family}
        </span>
      </td>
      <td data-column="Change">
        <span>
          {row.change}
          {row.count !== undefined && <span class="quiet">{` (${row.count} times)`}</span>}
        </span>
      </td>
      <td data-column="Cause" class="quiet">
        {row.cause ?? '–'}
      </td>
      <td data-column="Latency">
        <span class="latency">
          {bar && <Bar bar={bar} />}
          <span class="small">{latency}</span>
        </span>
      </td>
    </tr>
  );
}

const BAR_WIDTH = 120;

function Bar({ bar: { planned, written } }: { readonly bar: LatencyBar }) {
  const first = planned * BAR_WIDTH;
  return (
    <svg class="bar" width={BAR_WIDTH} height="6" aria-hidden="true">
      <rect class="planned" width={first} height="6" />
      <rect class="written" x={first} width={Math.max(1, written * BAR_WIDTH)} height="6" />
    </svg>
  );
}
