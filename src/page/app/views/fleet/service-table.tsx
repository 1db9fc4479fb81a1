import type { FleetServiceRow } from '../../../fleet/index.ts';
import { EmptyNote } from '../../parts/notes.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Age } from '../../parts/time.tsx';
import type { NodeVerdict } from './compare.ts';
import { MoreRows, useLimit } from './more-rows.tsx';
import { chosenNodes, comparisonText, type Filter } from './node-list.ts';
import { Reasons, VerdictBadge } from './verdict-badge.tsx';

interface ServiceTableProps {
  readonly rows: readonly FleetServiceRow[];
  readonly verdicts: ReadonlyMap<string, NodeVerdict>;
  readonly search: string;
  readonly filter: Filter;
}

const NOTHING: NodeVerdict = { state: 'silent', reasons: [] };

/** One Service on every node. */
export function ServiceTable({ rows, verdicts, search, filter }: ServiceTableProps) {
  const [limit, showAll] = useLimit();
  const verdict = ({ node }: FleetServiceRow) => verdicts.get(node) ?? NOTHING;
  const chosen = chosenNodes(rows, verdict, { search, filter });
  return (
    <>
      <p role="status">{comparisonText([...verdicts.values()].map(({ state }) => state))}</p>
      {chosen.length === 0 ? (
        <EmptyNote title="No node matches.">Change the search or the filter.</EmptyNote>
      ) : (
        <div class="table-box">
          <table class="stacked">
            <caption class="spoken">The Service on each node</caption>
            <thead>
              <tr>
                <th scope="col">Node</th>
                <th scope="col">Compared</th>
                <th scope="col">State there</th>
                <th scope="col">Endpoints used / all</th>
                <th scope="col">Changed</th>
                <th scope="col">How it differs</th>
              </tr>
            </thead>
            <tbody>
              {chosen.slice(0, limit).map(row => (
                <Row key={row.node} row={row} verdict={verdict(row)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <MoreRows all={chosen.length} limit={limit} onShowAll={showAll} />
    </>
  );
}

function Row({ row, verdict }: { readonly row: FleetServiceRow; readonly verdict: NodeVerdict }) {
  const there = 'silence' in row ? undefined : row.row;
  return (
    <tr>
      <td data-column="Node" class="fleet-node" title={row.pod}>
        {row.node}
      </td>
      <td data-column="Compared">
        <VerdictBadge state={verdict.state} />
      </td>
      <td data-column="State there">{there ? <StateBadge state={there.state} /> : '–'}</td>
      <td data-column="Endpoints">
        {there?.endpoints.map(({ family, used, all }) => `${family} ${used}/${all}`).join(', ') || '–'}
      </td>
      <td data-column="Changed" class="fleet-figure">
        {there?.changed === undefined ? '–' : <Age time={there.changed} />}
      </td>
      <td data-column="How it differs">
        <Reasons reasons={verdict.reasons} />
      </td>
    </tr>
  );
}
