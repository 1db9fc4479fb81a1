import type { EndpointCounts, ServiceRow, ServiceState } from '../../inspect/index.ts';
import { bytesText } from '../../lib/bytes-text.ts';
import { printable } from '../../lib/printable.ts';
import { ageText } from '../age.ts';
import type { Style } from '../style.ts';
import { TableStream } from '../table-stream.ts';

export interface ServicesTableOptions {
  /** The first line of the stream. */
  readonly head: Readonly<Record<string, unknown>>;
  /** All addresses, and not only the first. */
  readonly isWide: boolean;
  readonly hasReasons: boolean;
  readonly style: Style;
  readonly print: (text: string) => void;
  readonly now?: number;
}

/** Prints Services as a table. Without any it prints nothing. */
export function servicesTable(options: ServicesTableOptions) {
  const { head, hasReasons, isWide, style, print, now = Date.now() } = options;
  const hasConnections = head.countsConnections === true;
  const figures = isWide && Array.isArray(head.countsTraffic) ? TRAFFIC : [];
  const columns = figures.length > 0 ? figures.map(([name]) => name) : hasConnections ? ['CONNECTIONS'] : [];
  const optional = [...(isWide ? ['BALANCE'] : []), ...columns, 'STATE', 'CHANGED', ...(hasReasons ? ['REASON'] : [])];
  const header = ['NAMESPACE', 'NAME', 'TYPE', 'ADDRESS', 'PORTS', 'ENDPOINTS', ...optional];
  const numbers = new Set(figures.map(([name]) => header.indexOf(name)));
  let table: TableStream | undefined;
  return {
    add(row: ServiceRow): void {
      table ??= new TableStream(header.map(style.bold), print, { numbers });
      const { namespace, name, type, addresses, ports, endpoints, connections, traffic, state, reasons, changed } = row;
      const cells = [
        namespace,
        name,
        type || '-',
        (isWide ? addresses.join(',') : first(addresses)) || '-',
        ports.join(',') || '-',
        endpointsText(endpoints),
        ...(isWide ? [balanceCell(row)] : []),
        ...(figures.length > 0
          ? figures.map(([, figure, text]) => figureText(traffic?.[figure], text))
          : hasConnections
            ? [`${connections ?? 0}`]
            : []),
      ];
      table.add([
        ...cells.map(printable),
        stateText(state, style),
        changedText(changed, head.historySince, now),
        ...(hasReasons ? [printable(reasons.join('; '))] : []),
      ]);
    },
    end: () => table?.flush(),
  };
}

/** A dash if nobody chose. */
function balanceCell({ balance }: ServiceRow): string {
  if (balance?.unavailable) return `not ${balance.unavailable}`;
  return balance?.algorithm ?? '-';
}

/** The columns of traffic in the wide form. */
const TRAFFIC = [
  ['CONNECTIONS', 'connections', String],
  ['OPEN', 'active', String],
  ['BYTES', 'bytes', bytesText],
  ['PACKETS', 'packets', String],
  ['REJECTED', 'rejected', String],
  ['DROPPED', 'dropped', String],
] as const;

/** A dash if the mode does not count it. */
function figureText(figure: number | undefined, text: (figure: number) => string): string {
  return figure === undefined ? '-' : text(figure);
}

function first([address = '', ...others]: readonly string[]): string {
  return others.length === 0 ? address : `${address} +${others.length}`;
}

/** `2/3`, or `2/3 0/3` if the families differ. */
function endpointsText(endpoints: readonly EndpointCounts[]): string {
  const texts = new Set(endpoints.map(({ used, all }) => `${used}/${all}`));
  return [...texts].join(' ') || '-';
}

const STATE_WORDS: Readonly<Record<ServiceState, string>> = {
  setAside: 'set aside',
  conflict: 'conflict',
  problem: 'problem',
  noEndpoints: 'no endpoints',
  noLocalEndpoints: 'no local endpoints',
  waiting: 'waiting',
  programmed: 'programmed',
  notProxied: 'not proxied',
};

function stateText(state: ServiceState, style: Style): string {
  const word = STATE_WORDS[state] ?? printable(state);
  if (state === 'programmed') return style.green(word);
  if (state === 'notProxied') return style.dim(word);
  return state === 'waiting' || state === 'noLocalEndpoints' ? style.yellow(word) : style.red(word);
}

/** A change that the history no longer has is older than all that it has. */
function changedText(changed: string | undefined, historySince: unknown, now: number): string {
  if (changed !== undefined) return ageText(now - Date.parse(changed));
  const since = Date.parse(String(historySince));
  return Number.isNaN(since) ? '-' : `>${ageText(now - since)}`;
}
