import type { ObservedConnection } from '../../../../../inspect/index.ts';
import type { Observed } from './observed.ts';
import { CALLER_SUBJECTS } from './words.ts';

/** How many real connections there were, and those that were not as planned. */
export function ObservedNote({ observed }: { readonly observed: Observed }) {
  if (observed.round === 0) return null;
  const tallies = [...observed.ways.values()];
  const sum = (pick: 'count' | 'unplanned') => tallies.reduce((total, tally) => total + tally[pick], 0);
  const unplanned = sum('unplanned');
  return (
    <div class="observed">
      <p class="quiet">
        {`${sum('count').toLocaleString('en')} real connections since this page shows the Service, `}
        {unplanned === 0 ? 'all as planned.' : <span class="bad">{`✕ ${unplanned} not as planned:`}</span>}
      </p>
      {observed.unplanned.length > 0 && (
        <ul>
          {observed.unplanned.map((connection, index) => (
            <li key={`${observed.round} ${index}`}>{connectionText(connection)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

function connectionText({ from, to, endpoint, failure, seenAs, count }: ObservedConnection): string {
  const end = endpoint === undefined ? (failure ?? 'no answer') : `answered by ${endpoint}`;
  const seen = seenAs === undefined ? '' : `, which saw ${seenAs === 'itself' ? 'the caller' : seenAs}`;
  return `${count} from ${CALLER_SUBJECTS[from]} to ${to}: ${end}${seen}`;
}
