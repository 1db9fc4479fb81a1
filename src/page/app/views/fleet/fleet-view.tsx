import './fleet.css';
import { useEffect, useState } from 'preact/hooks';
import { address, go } from '../../address.ts';
import { EmptyNote, ErrorNote, Loading } from '../../parts/notes.tsx';
import { Age } from '../../parts/time.tsx';
import { compareNodes } from './compare.ts';
import { type Answers, fleet, fleetService, NO_SERVICE, readFleet, readFleetService } from './fleet-data.ts';
import { FILTER_WORDS, FILTERS, filterOf, statusVerdict, summaryOf } from './node-list.ts';
import { NodeTable } from './node-table.tsx';
import { ServiceTable } from './service-table.tsx';

/** `namespace/name`. Browsers read it with the flag v, in which a slash needs a backslash. */
const NAME_PATTERN = String.raw`[^\/\s]+\/[^\/\s]+`;

/** From the end of one round to the next one. */
const PAUSE_MS = 10_000;

/** All nodes of a cluster, or one Service on all nodes. */
export function FleetView() {
  const { service = '', q = '', filter: filterText } = address.value.parameters;
  const filter = filterOf(filterText);
  const [round, setRound] = useState(0);
  useRounds(service, round);
  const answers: Answers<unknown> = service === '' ? fleet.value : fleetService.value;
  return (
    <div class="view">
      <div class="view-head">
        <h1>Nodes</h1>
        <Summary />
      </div>
      <Controls service={service} search={q} filter={filter} onRefresh={() => setRound(round + 1)} />
      {answers.error !== undefined && (
        <ErrorNote title="The nodes cannot be asked." error={answers.error} onRetry={() => setRound(round + 1)} />
      )}
      {answers.head?.notes.map(note => (
        <p key={note} class="note warn">
          {note}
        </p>
      ))}
      <Nodes service={service} search={q} filter={filter} />
    </div>
  );
}

interface Choice {
  readonly service: string;
  readonly search: string;
  readonly filter: ReturnType<typeof filterOf>;
}

function Nodes({ service, search, filter }: Choice) {
  const answers = service === '' ? fleet.value : fleetService.value;
  if (answers.rows.length === 0) {
    if (answers.error !== undefined) return null;
    if (answers.completeAt === undefined) return <Loading what="nodes" lines={8} />;
    return <EmptyNote title="There are no nodes.">Check --namespace and --selector of the command.</EmptyNote>;
  }
  if (service === '') {
    return <NodeTable rows={fleet.value.rows} verdict={statusVerdict} search={search} filter={filter} />;
  }
  const { rows, contents } = fleetService.value;
  const verdicts = compareNodes(rows, contents);
  return <ServiceTable rows={rows} verdicts={verdicts} search={search} filter={filter} />;
}

function Summary() {
  const { rows, completeAt } = fleet.value;
  const { nodes, answered, modes, versions } = summaryOf(rows);
  if (nodes === 0) return null;
  return (
    <span class="quiet">
      {answered} of {nodes} answer · {modes} · Pointsman {versions} ·{' '}
      {completeAt === undefined ? 'asking …' : <Age time={completeAt} />}
    </span>
  );
}

function Controls({ service, search, filter, onRefresh }: Choice & { readonly onRefresh: () => void }) {
  const choose = (event: SubmitEvent) => {
    event.preventDefault();
    const field =
      event.currentTarget instanceof HTMLFormElement ? event.currentTarget.elements.namedItem('service') : null;
    if (field instanceof HTMLInputElement) setParameters({ service: field.value.trim() });
  };
  return (
    <div class="toolbar">
      <input
        type="search"
        aria-label="Search nodes"
        placeholder="Node or pod"
        value={search}
        onInput={event => setParameters({ q: event.currentTarget.value })}
      />
      <select
        aria-label="Which nodes"
        value={filter}
        onChange={event => setParameters({ filter: event.currentTarget.value })}
      >
        {FILTERS.map(value => (
          <option key={value} value={value}>
            {FILTER_WORDS[value]}
          </option>
        ))}
      </select>
      <form class="toolbar fleet-form" onSubmit={choose}>
        <input
          key={service}
          class="fleet-service"
          name="service"
          aria-label="Compare a Service on all nodes"
          placeholder="namespace/name of a Service"
          pattern={NAME_PATTERN}
          title="namespace/name"
          defaultValue={service}
        />
        <button type="submit">Compare</button>
        {service !== '' && (
          <button type="button" onClick={() => setParameters({ service: '' })}>
            All nodes
          </button>
        )}
      </form>
      <button type="button" onClick={onRefresh}>
        Ask again
      </button>
    </div>
  );
}

/** The page about all nodes has only this view, whatever the address says. */
function setParameters(changed: Readonly<Record<string, string>>): void {
  go({ view: 'fleet', parameters: { ...address.value.parameters, ...changed } }, { replace: true });
}

/** Asks all nodes, round after round, while the page is visible. */
function useRounds(service: string, round: number): void {
  useEffect(() => {
    const stop = new AbortController();
    fleetService.value = NO_SERVICE;
    void repeat(stop.signal, async () => {
      if (service !== '') await readFleetService(service, stop.signal);
      await readFleet(stop.signal);
    });
    return () => stop.abort();
  }, [service, round]);
}

async function repeat(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    if (!document.hidden) await work();
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
  }
}
