import { useMemo, useState } from 'preact/hooks';
import type { EndpointDetail, PortDetail } from '../../../../../inspect/index.ts';
import { EmptyNote } from '../../../parts/notes.tsx';
import { capitalized, percent } from '../../../parts/texts.ts';
import { type EndpointRow, endpointRows, FIRST_ROWS, usedCounts, weightText } from './endpoint-rows.ts';

interface EndpointsTableProps {
  readonly port: PortDetail;
  /** The zone of this node. */
  readonly zone: string;
}

/** Each endpoint with the reason it is used or not. */
export function EndpointsTable({ port, zone }: EndpointsTableProps) {
  const rows = useMemo(() => endpointRows(port.endpoints), [port]);
  const [showsAll, setShowsAll] = useState(false);
  const shown = showsAll ? rows : rows.slice(0, FIRST_ROWS);
  if (rows.length === 0) {
    return (
      <EmptyNote title="This port has no endpoints.">
        No EndpointSlice of the Service has an address for it. Pods need the labels of the selector, and the target
        port.
      </EmptyNote>
    );
  }
  const has = (pick: (endpoint: EndpointDetail) => unknown) => port.endpoints.some(endpoint => pick(endpoint));
  const columns: Columns = {
    pod: has(({ pod }) => pod),
    zone: has(each => each.zone),
    hints: has(({ hints }) => hints && hints.length > 0),
    cluster: has(({ clusterPolicy }) => clusterPolicy),
    local: has(({ localPolicy }) => localPolicy),
    weight: has(({ weight }) => weight !== undefined),
  };
  return (
    <>
      <p class="quiet">{summary(port)}</p>
      <div class="table-box">
        <table class="stacked endpoints">
          <Head columns={columns} />
          <tbody>
            {shown.map(row => (
              <Row key={row.endpoint.address} row={row} columns={columns} zone={zone} />
            ))}
          </tbody>
        </table>
      </div>
      {port.endpointCount > rows.length && showsAll && (
        <p class="quiet">{`The proxy has ${port.endpointCount.toLocaleString('en')} endpoints and lists the first ones.`}</p>
      )}
      {rows.length > shown.length && (
        <button type="button" onClick={() => setShowsAll(true)}>
          {`Show all ${rows.length.toLocaleString('en')} endpoints`}
        </button>
      )}
    </>
  );
}

/** Columns without any value are left out. */
interface Columns {
  readonly pod: boolean;
  readonly zone: boolean;
  readonly hints: boolean;
  readonly cluster: boolean;
  readonly local: boolean;
  readonly weight: boolean;
}

function summary({ endpoints, topology }: PortDetail): string {
  const { cluster, local } = usedCounts(endpoints);
  const parts = [
    cluster !== undefined && `policy Cluster uses ${cluster} of ${endpoints.length}`,
    local !== undefined && `policy Local uses ${local} of ${endpoints.length}`,
    topology,
  ].filter(text => text);
  return `${capitalized(parts.join('; '))}.`;
}

function Head({ columns }: { readonly columns: Columns }) {
  return (
    <thead>
      <tr>
        <th scope="col">Address</th>
        {columns.pod && <th scope="col">Pod</th>}
        <th scope="col">Node</th>
        {columns.zone && <th scope="col">Zone</th>}
        {columns.hints && <th scope="col">Hints</th>}
        <th scope="col">Conditions</th>
        {columns.weight && <th scope="col">Weight</th>}
        {columns.cluster && <th scope="col">Cluster traffic</th>}
        {columns.local && <th scope="col">Local traffic</th>}
      </tr>
    </thead>
  );
}

function Row({ row, columns, zone }: { readonly row: EndpointRow; readonly columns: Columns; readonly zone: string }) {
  const { endpoint, condition, isUsed } = row;
  return (
    <tr class={isUsed ? '' : 'unused'}>
      <td data-column="Address" class="mono">
        {endpoint.address}
      </td>
      {columns.pod && <td data-column="Pod">{endpoint.pod ?? '–'}</td>}
      <td data-column="Node">
        <span>
          {endpoint.node ?? '–'}
          {endpoint.local && <span class="here"> this node</span>}
        </span>
      </td>
      {columns.zone && (
        <td data-column="Zone">
          <span>
            {endpoint.zone ?? '–'}
            {endpoint.zone !== undefined && endpoint.zone === zone && <span class="here"> this zone</span>}
          </span>
        </td>
      )}
      {columns.hints && <td data-column="Hints">{endpoint.hints?.join(', ') ?? '–'}</td>}
      <td data-column="Conditions">{condition}</td>
      {columns.weight && <td data-column="Weight">{weightText(endpoint)}</td>}
      {columns.cluster && (
        <td data-column="Cluster traffic">
          <Decision decision={endpoint.clusterPolicy} />
        </td>
      )}
      {columns.local && (
        <td data-column="Local traffic">
          <Decision decision={endpoint.localPolicy} />
        </td>
      )}
    </tr>
  );
}

function Decision({ decision }: { readonly decision: EndpointDetail['clusterPolicy'] }) {
  if (!decision) return <span class="quiet">–</span>;
  const { used, reason, share } = decision;
  return (
    <span>
      <span class={used ? 'good' : 'quiet'}>{used ? '✓ used' : '✕ not used'}</span>
      <span class="quiet">: {reason}</span>
      {share !== undefined && <span class="quiet">, gets {percent(share)}</span>}
    </span>
  );
}
