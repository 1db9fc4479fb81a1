import './timeline.css';
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { address, setParameters } from '../../address.ts';
import { ErrorNote, Loading } from '../../parts/notes.tsx';
import { now } from '../../state/clock.ts';
import { historyEntries } from '../../state/history.ts';
import { connection, hello, onLive } from '../../state/live.ts';
import { pulses } from '../../state/pulses.ts';
import { EntriesTable } from './entries-table.tsx';
import { Graphic } from './graphic.tsx';
import { formatKinds, LANES, type LaneId, parseKinds, toggled } from './lanes.ts';
import { inSpan, timed } from './marks.ts';
import { pulseRows } from './pulse-rows.ts';
import { boundsOf, type ChosenSpan, current, formatSpan, parseSpan, spanText } from './span.ts';
import { TimeTools } from './time-tools.tsx';
import { failure, isRead, readHistory, startedAt, stopReading } from './timeline-data.ts';

const ADDRESS_MS = 300;
/** What the reader does just now. Browsers limit how often the address may change, so it follows a little later. */
const draft = signal<ChosenSpan | undefined>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;

function choose(span: ChosenSpan): void {
  draft.value = span;
  clearTimeout(timer);
  timer = setTimeout(() => {
    // Another view may have come meanwhile.
    if (address.value.view === 'timeline') setParameters(formatSpan(span));
    draft.value = undefined;
  }, ADDRESS_MS);
}

/** The axis stops, so that the entry stays on it, and the address leads to it later, too. */
function selectEntry(id: number, chosen: ChosenSpan): void {
  clearTimeout(timer);
  draft.value = undefined;
  setParameters({ entry: String(id), ...formatSpan({ ...chosen, isFollowing: false }) });
}

/** Everything that happened, on one axis, and as a table. */
export function TimelineView() {
  useHistory();
  const { from = '', until = '', kinds = '', entry = '' } = address.value.parameters;
  const lanes = parseKinds(kinds);
  const all = useMemo(
    () => timed([...historyEntries.value, ...pulseRows(pulses.value)]),
    [historyEntries.value, pulses.value],
  );
  const entries = useMemo(() => all.filter(({ lane }) => lanes.has(lane)), [all, kinds]);
  const chosen = current(draft.value ?? parseSpan(from, until, now.value), now.value);
  const bounds = boundsOf(now.value, startedAt.value, all[0]?.at, chosen.from);
  const selected = entry === '' ? undefined : Number(entry);
  const shown = inSpan(entries, chosen);
  return (
    <section class="view timeline" aria-labelledby="timeline-title">
      <div class="view-head">
        <h1 id="timeline-title">Timeline</h1>
        <span class="quiet">
          {shown.length} {shown.length === 1 ? 'entry' : 'entries'} in {spanText(chosen)}
        </span>
      </div>
      <TimeTools chosen={chosen} bounds={bounds} onChange={choose} />
      <Kinds shown={lanes} />
      <Graphic
        entries={entries}
        lanes={lanes}
        chosen={chosen}
        bounds={bounds}
        selected={selected}
        onChange={choose}
        onSelect={id => selectEntry(id, chosen)}
      />
      {failure.value !== undefined && (
        <ErrorNote title="The history cannot be read." error={failure.value} onRetry={() => void readHistory()} />
      )}
      {isRead.value ? (
        <EntriesTable entries={shown} selected={selected} />
      ) : (
        failure.value === undefined && <Loading what="the history" lines={12} />
      )}
    </section>
  );
}

/** Reads the history at first, and again when the page may have missed something. */
function useHistory(): void {
  const run = hello.value?.run;
  const isLive = connection.value === 'live';
  useEffect(() => {
    if (isLive) void readHistory();
  }, [run, isLive]);
  useEffect(() => {
    const end = onLive('relist', () => void readHistory());
    return () => {
      end();
      stopReading();
    };
  }, []);
}

function Kinds({ shown }: { readonly shown: ReadonlySet<LaneId> }) {
  return (
    <fieldset class="toolbar timeline-kinds">
      <legend class="spoken">Kinds</legend>
      {LANES.map(({ id, text, tone }) => (
        <button
          key={id}
          type="button"
          aria-pressed={shown.has(id)}
          onClick={() => setParameters({ kinds: formatKinds(toggled(shown, id)) })}
        >
          <span class={`swatch ground-${tone}`} aria-hidden="true" />
          {text}
        </button>
      ))}
    </fieldset>
  );
}
