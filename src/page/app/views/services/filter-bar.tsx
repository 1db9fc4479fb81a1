import { setParameters } from '../../address.ts';
import { FILTER_WORDS, FILTERS, type Filter, ORDER_WORDS, ORDERS, type Order } from './selection.ts';

interface FilterProps {
  readonly filter: Filter;
  readonly counts: Readonly<Record<Filter, number>>;
}

/** A second press on a filter shows all again. */
export function FilterButtons({ filter, counts }: FilterProps) {
  const press = (name: Filter) => setParameters({ filter: name === filter || name === 'all' ? '' : name });
  return (
    <fieldset class="filters">
      <legend class="spoken">Show</legend>
      {FILTERS.map(name => (
        <button key={name} type="button" aria-pressed={name === filter} onClick={() => press(name)}>
          {FILTER_WORDS[name]} <span class="filter-count">{counts[name].toLocaleString('en')}</span>
        </button>
      ))}
    </fieldset>
  );
}

export function OrderSelect({ order }: { readonly order: Order }) {
  const change = (next: string) => setParameters({ sort: next === 'name' ? '' : next });
  return (
    <label class="order">
      Sort by{' '}
      <select value={order} onChange={event => change(event.currentTarget.value)}>
        {ORDERS.map(name => (
          <option key={name} value={name}>
            {ORDER_WORDS[name]}
          </option>
        ))}
      </select>
    </label>
  );
}
