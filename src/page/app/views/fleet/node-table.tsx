import type { FleetRow, NodeRow } from '../../../fleet/index.ts';
import { EmptyNote } from '../../parts/notes.tsx';
import { Age } from '../../parts/time.tsx';
import type { NodeVerdict } from './compare.ts';
import { MoreRows, useLimit } from './more-rows.tsx';
import { chosenNodes, type Filter } from './node-list.ts';
import { Reasons, VerdictBadge } from './verdict-badge.tsx';

interface NodeTableProps {
  readonly rows: readonly FleetRow[];
  readonly verdict: (row: FleetRow) => NodeVerdict;
  readonly search: string;
  readonly filter: Filter;
}

export function NodeTable({ rows, verdict, search, filter }: NodeTableProps) {
  const [limit, showAll] = useLimit();
  const chosen = chosenNodes(rows, verdict, { search, filter });
  if (chosen.length === 0) return <EmptyNote title="No node matches.">Change the search or the filter.</EmptyNote>;
  return (
    <>
      <div class="table-box">
        <table class="stacked">
          <caption class="spoken">The proxies of the nodes</caption>
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">State</th>
              <th scope="col">Mode</th>
              <th scope="col">Version</th>
              <th scope="col" class="number">
                Service ports
              </th>
              <th scope="col" class="number">
                Problems
              </th>
              <th scope="col" class="number">
                Repairs
              </th>
              <th scope="col">Last sync</th>
              <th scope="col" class="number">
                Answer
              </th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {chosen.slice(0, limit).map(row => (
              <Row key={row.node} row={row} verdict={verdict(row)} />
            ))}
          </tbody>
        </table>
      </div>
      <MoreRows all={chosen.length} limit={limit} onShowAll={showAll} />
    </>
  );
}

function Row({ row, verdict }: { readonly row: FleetRow; readonly verdict: NodeVerdict }) {
  return (
    <tr>
      <td data-column="Node" class="fleet-node" title={row.pod}>
        {row.node}
      </td>
      <td data-column="State">
        <VerdictBadge state={verdict.state} good="in order" />
      </td>
      {'silence' in row ? (
        <td colSpan={7} class="quiet" data-column="Pod">
          {row.pod ?? '–'}
        </td>
      ) : (
        <Figures row={row} />
      )}
      <td data-column="Why">
        <Reasons reasons={verdict.reasons} />
      </td>
    </tr>
  );
}

function Figures({ row }: { readonly row: NodeRow }) {
  const { programmed, setAside } = row.servicePorts;
  return (
    <>
      <td data-column="Mode">{row.mode}</td>
      <td data-column="Version">{row.version}</td>
      <td data-column="Service ports" class="number fleet-figure">
        {programmed}
        {setAside > 0 && <span class="bad"> + {setAside} set aside</span>}
      </td>
      <td data-column="Problems" class={row.problems > 0 ? 'number warn' : 'number'}>
        {row.problems}
      </td>
      <td data-column="Repairs" class="number">
        {row.repairs}
      </td>
      <td data-column="Last sync" class="fleet-figure">
        {row.syncs.last === undefined ? '–' : <Age time={row.syncs.last} />}
      </td>
      <td data-column="Answer" class="number fleet-figure">
        {row.milliseconds} ms
      </td>
    </>
  );
}
