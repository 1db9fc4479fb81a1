import { formatAddress } from '../../address.ts';
import { fleet } from './fleet-data.ts';

/** The head of the page about all nodes. */
export function FleetBar() {
  const { rows } = fleet.value;
  return (
    <header class="top-bar">
      <a class="brand" href={formatAddress({ view: 'fleet' })}>
        <img src="icon.svg" alt="" width="20" height="20" />
        Pointsman
      </a>
      <span class="node">
        <strong>{rows.length === 0 ? '…' : `${rows.length} nodes`}</strong>
      </span>
    </header>
  );
}
