import { useEffect, useRef } from 'preact/hooks';
import type { HistoryRow } from '../../../../inspect/index.ts';
import { serviceAddress } from '../../address.ts';
import { millisecondsText } from '../../parts/age.ts';
import { EmptyNote } from '../../parts/notes.tsx';
import { ClockTime } from '../../parts/time.tsx';
import { wordsOf } from './lanes.ts';
import type { TimedEntry } from './marks.ts';

const MAX_ROWS = 500;

interface Props {
  /** Of the chosen span, sorted by time. */
  readonly entries: readonly TimedEntry[];
  readonly selected: number | undefined;
}

/** The entries of the chosen span, the newest first. */
export function EntriesTable({ entries, selected }: Props) {
  if (entries.length === 0) {
    return <EmptyNote title="Nothing happened in this time.">Choose a longer time, or more kinds.</EmptyNote>;
  }
  const shown = entries.slice(-MAX_ROWS).reverse();
  return (
    <>
      {entries.length > MAX_ROWS && (
        <p class="quiet">
          The newest {MAX_ROWS} of {entries.length} entries. Choose a shorter time to see the others.
        </p>
      )}
      <div class="table-box">
        <table class="stacked timeline-table">
          <caption class="spoken">What happened, the newest first</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Kind</th>
              <th scope="col">Service</th>
              <th scope="col">What happened</th>
              <th scope="col" class="number">
                To the kernel
              </th>
              <th scope="col" class="number">
                Sync
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ entry }) => (
              <EntryRow key={entry.id} entry={entry} isSelected={entry.id === selected} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function EntryRow({ entry, isSelected }: { readonly entry: HistoryRow; readonly isSelected: boolean }) {
  const row = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    if (isSelected) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isSelected]);
  const { icon, word, tone } = wordsOf(entry);
  const { time, service, object, change, cause, count, syncMs, fullSync } = entry;
  return (
    <tr ref={row} aria-current={isSelected ? 'true' : undefined}>
      <td data-column="Time">
        <ClockTime time={time} />
      </td>
      <td data-column="Kind" class="kind">
        <span class={tone === 'accent' ? undefined : tone}>
          <span aria-hidden="true">{icon} </span>
          {word}
        </span>
      </td>
      <td data-column="Service">
        {service === undefined ? (
          object && <span class="quiet">{object}</span>
        ) : (
          <a href={serviceAddress(service)}>{service}</a>
        )}
      </td>
      <td data-column="What happened">
        <div>
          {change}
          {count !== undefined && <span class="quiet"> ({count} times)</span>}
          {cause !== undefined && <div class="quiet small">{cause}</div>}
        </div>
      </td>
      <td data-column="To the kernel" class="number">
        {latencyText(entry)}
      </td>
      <td data-column="Sync" class="number">
        {syncMs === undefined ? '' : `${millisecondsText(syncMs)}${fullSync ? ', full' : ''}`}
      </td>
    </tr>
  );
}

function latencyText({ state, writtenMs }: HistoryRow): string {
  if (writtenMs !== undefined) return millisecondsText(writtenMs);
  return state === 'waiting' ? 'waiting' : state === 'setAside' ? 'set aside' : '';
}
