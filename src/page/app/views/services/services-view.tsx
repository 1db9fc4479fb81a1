import './services.css';
import { computed } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { address, formatAddress, setParameters } from '../../address.ts';
import { EmptyNote, Loading } from '../../parts/notes.tsx';
import { now } from '../../state/clock.ts';
import { rates, ratesVersion } from '../../state/rates.ts';
import { listState, serviceIndex, servicesVersion } from '../../state/services.ts';
import { throttled } from '../../state/throttled.ts';
import { FilterButtons, OrderSelect } from './filter-bar.tsx';
import { found, searchProxy } from './found-services.ts';
import { parseTarget, targetText } from './search.ts';
import { SearchBox } from './search-box.tsx';
import { type Question, selectServices, toFilter, toOrder } from './selection.ts';
import { ServiceTable } from './service-table.tsx';

/** Rows change often; the list need not be drawn for each. */
const shownVersion = throttled(servicesVersion, 200);
/** "Changed lately" depends on the time, but not on every second. */
const halfMinute = computed(() => Math.floor(now.value / 30_000));

/** Search first, then filters, then all Services that match. */
export function ServicesView() {
  const { q = '', filter, sort } = address.value.parameters;
  const { text, change, write } = useSearchText(q);
  const question = { text, filter: toFilter(filter), order: toOrder(sort) };
  const { services, total, counts } = useSelection(question);
  const target = parseTarget(text.trim());
  return (
    <div class="services-view fills">
      <h1 class="spoken">Services</h1>
      <div class="services-tools">
        <SearchBox text={text} onText={change} onLeave={() => write(text)} />
        <OrderSelect order={question.order} />
        <FilterButtons filter={question.filter} counts={counts} />
        <span class="quiet count" role="status">
          {countText(services.length, total)}
        </span>
      </div>
      {target && (
        <a class="ask-link" href={formatAddress({ view: 'ask', parameters: { to: targetText(target) } })}>
          Ask what a connection to <span class="mono">{targetText(target)}</span> gets
        </a>
      )}
      {services.length === 0 ? (
        <Nothing question={question} />
      ) : (
        <ServiceTable services={services} found={found.value} question={JSON.stringify(question)} />
      )}
    </div>
  );
}

function useSelection(question: Question) {
  const { text, filter, order } = question;
  const version = shownVersion.value;
  const rateVersion = order === 'connections' ? ratesVersion.value : 0;
  const time = halfMinute.value;
  const foundNow = found.value;
  return useMemo(
    () => selectServices(serviceIndex.sorted, question, { now: Date.now(), rates: rates.rates, found: foundNow }),
    [text, filter, order, version, rateVersion, time, foundNow],
  );
}

const WRITE_MS = 250;

/** The text filters at once. The address follows when the operator stops typing: browsers limit its changes. */
function useSearchText(q: string) {
  const [text, setText] = useState(q);
  const written = useRef(q);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const write = (next: string) => {
    clearTimeout(timer.current);
    if (written.current === next) return;
    written.current = next;
    setParameters({ q: next });
  };
  useEffect(() => {
    if (q === written.current) return;
    written.current = q;
    setText(q);
  }, [q]);
  useEffect(() => searchProxy(text), [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (next: string) => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => write(next), WRITE_MS);
  };
  return { text, change, write };
}

function countText(shown: number, all: number): string {
  const suffix = listState.value === 'listing' ? ' so far' : '';
  const of = shown === all ? '' : ` of ${all.toLocaleString('en')}`;
  return `${shown.toLocaleString('en')}${of} ${all === 1 ? 'Service' : 'Services'}${suffix}`;
}

function Nothing({ question: { text, filter } }: { readonly question: Question }) {
  if (listState.value === 'listing') return <Loading what="Services" lines={10} />;
  if (serviceIndex.sorted.length === 0) {
    return <EmptyNote title="There are no Services.">The page shows them as soon as the proxy has any.</EmptyNote>;
  }
  if (text !== '') return <EmptyNote title={`No Service matches “${text}”.`}>Press Esc to clear the search.</EmptyNote>;
  return <EmptyNote title={filter === 'broken' ? 'No Service is broken.' : 'No Service is like this.'} />;
}
