import { Component } from 'preact';
import { serviceAddress } from '../../address.ts';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Age } from '../../parts/time.tsx';
import { now } from '../../state/clock.ts';
import { hello } from '../../state/live.ts';
import { rates, ratesVersion } from '../../state/rates.ts';
import type { IndexedService } from '../../state/service-index.ts';
import { historySince } from '../../state/services.ts';
import { endpointsText, endpointsTitle, olderText, rateText, rowTitle, shortList } from './row-texts.ts';

interface RowProps {
  readonly service: IndexedService;
  readonly index: number;
  /** Only the active row is in the order of the Tab key. */
  readonly isActive: boolean;
  /** Why the proxy found it, if its own name and addresses do not match. */
  readonly foundBy: string | undefined;
  /** Handlers never change. */
  readonly onKey: (event: KeyboardEvent) => void;
  readonly onFocus: (index: number) => void;
}

/** One Service. All rows have the same height, which the table knows. The link covers the row. */
export class Row extends Component<RowProps> {
  /** A scroll draws the table again, and most rows stay as they are. */
  override shouldComponentUpdate({ service, index, isActive, foundBy }: RowProps): boolean {
    const { props } = this;
    return (
      service !== props.service || index !== props.index || isActive !== props.isActive || foundBy !== props.foundBy
    );
  }

  override render({ service: { key, row }, index, isActive, foundBy, onKey, onFocus }: RowProps) {
    const { namespace, name, addresses, ports, endpoints, state, reasons } = row;
    return (
      <tr aria-rowindex={index + 2} title={rowTitle(row, foundBy)}>
        <td class="cell-name">
          <a
            href={serviceAddress(key)}
            // The parts of the name are boxes, which screen readers would read with a blank between them.
            aria-label={key}
            data-index={index}
            tabIndex={isActive ? 0 : -1}
            onKeyDown={onKey}
            onFocus={() => onFocus(index)}
          >
            <span class="quiet">{namespace}/</span>
            {name}
          </a>
        </td>
        <td class="cell-addresses mono">
          <span>{shortList(addresses)}</span> <span class="quiet">{shortList(ports)}</span>
        </td>
        <td class="cell-endpoints number" title={endpointsTitle(endpoints)}>
          {endpointsText(endpoints)}
        </td>
        <td class="cell-rate number">
          <Rate service={key} />
        </td>
        <td class="cell-state">
          <StateBadge state={state} /> <span class="quiet">{foundBy ?? reasons[0]}</span>
        </td>
        <td class="cell-changed quiet">
          <Changed changed={row.changed} />
        </td>
      </tr>
    );
  }
}

function Rate({ service }: { readonly service: string }) {
  if (!hello.value?.countsConnections) return <span class="quiet">–</span>;
  void ratesVersion.value;
  return <>{rateText(rates.rates.get(service) ?? 0)}</>;
}

function Changed({ changed }: { readonly changed: string | undefined }) {
  if (changed !== undefined) return <Age time={changed} />;
  return <>{olderText(historySince.value, now.value)}</>;
}
