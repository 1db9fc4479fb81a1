import { callerName, type EndpointCount, type SocketRow } from '../../inspect/index.ts';
import { compareTexts } from '../../lib/compare-texts.ts';
import { printable } from '../../lib/printable.ts';
import type { Style } from '../style.ts';
import { TableStream } from '../table-stream.ts';
import { truncate } from '../terminal-text.ts';

export interface SocketsTableOptions {
  /** With all addresses. */
  readonly isWide: boolean;
  readonly style: Style;
  /** How many columns the terminal has. Undefined if the output is no terminal. */
  readonly width?: number | undefined;
}

type Cell = (row: SocketRow) => string;

/** One line for each socket, by Service, endpoint and caller. Empty without any. */
export function socketsTable(rows: readonly SocketRow[], { isWide, style, width }: SocketsTableOptions): string {
  const sorted = rows.map(row => ({ row, key: sortKey(row) })).sort((a, b) => compareTexts(a.key, b.key));
  const cells: readonly (readonly [string, Cell])[] = [
    ['SERVICE', serviceText],
    ...(isWide ? [['ADDRESS', ({ address }: SocketRow) => address] as const] : []),
    ['CALLER', callerName],
    ...(isWide ? [['CALLER ADDRESS', ({ caller = '-' }: SocketRow) => caller] as const] : []),
    ['ENDPOINT', row => endpointText(row, isWide)],
    ...(isWide ? [['ENDPOINT ADDRESS', ({ endpoint }: SocketRow) => endpoint] as const] : []),
    ['STATE', ({ state = '-' }) => state],
  ];
  const lines = sorted.map(({ row }) => cells.map(([, cell]) => printable(cell(row))));
  const fitted = isWide || width === undefined ? lines : fit(lines, width);
  const header = cells.map(([name]) => style.bold(name));
  return tableText(header, fitted);
}

/** One line for each endpoint of each Service. */
export function countsTable(counts: readonly EndpointCount[], { isWide, style, width }: SocketsTableOptions): string {
  const lines = counts.map(each => {
    const { sockets, callers, callerCount } = each;
    const names = callers.map(({ name, sockets: own }) => `${name} ${own}`);
    const shown = isWide ? names : names.slice(0, 1);
    const more = callerCount - shown.length;
    return [
      serviceText(each),
      endpointText(each, isWide),
      ...(isWide ? [each.endpoint] : []),
      String(sockets),
      `${shown.join(', ')}${more > 0 ? ` +${more}` : ''}`,
    ].map(printable);
  });
  const header = ['SERVICE', 'ENDPOINT', ...(isWide ? ['ENDPOINT ADDRESS'] : []), 'SOCKETS', 'CALLERS'];
  const fitted = isWide || width === undefined ? lines : fit(lines, width);
  return tableText(header.map(style.bold), fitted);
}

function tableText(header: readonly string[], lines: readonly (readonly string[])[]): string {
  if (lines.length === 0) return '';
  const parts: string[] = [];
  const table = new TableStream(header, text => parts.push(text));
  for (const line of lines) table.add(line);
  table.flush();
  return parts.join('');
}

/** `default/web:http`, or the address that no Service has any more. */
function serviceText({ service, port, address = '-' }: Pick<EndpointCount, 'service' | 'port' | 'address'>): string {
  return service === undefined ? `${address} (no Service)` : `${service}:${port}`;
}

function endpointText(
  { endpoint, endpointPod, endpointUse }: Pick<SocketRow, 'endpoint' | 'endpointPod' | 'endpointUse'>,
  isWide: boolean,
): string {
  const name = endpointPod ?? (isWide ? '-' : endpoint);
  if (endpointUse === undefined || endpointUse === 'used') return name;
  return `${name} (${endpointUse === 'gone' ? 'gone' : 'not used'})`;
}

function sortKey({ service, port = '', address, endpoint, caller = '' }: SocketRow): string {
  return `${service === undefined ? `~ ${address}` : `${service} ${port}`} ${endpoint} ${caller}`;
}

const GAP = 2;
/** So wide are the titles. */
const MIN_COLUMN = 8;
/** A name that is shorter says nothing any more. */
const MIN_NAME = 12;

/** Cuts the first columns, which are names, so that the last one stays in the terminal. */
function fit(lines: readonly (readonly string[])[], width: number): readonly (readonly string[])[] {
  const widths = (lines[0] ?? []).map((_, i) =>
    lines.reduce((most, line) => Math.max(most, line[i]?.length ?? 0), MIN_COLUMN),
  );
  let excess = widths.reduce((sum, each) => sum + each + GAP, -GAP) - width;
  // The longest column gives first.
  while (excess > 0) {
    const longest = widths.indexOf(Math.max(...widths));
    const size = widths[longest] ?? 0;
    if (size <= MIN_NAME) break;
    widths[longest] = size - 1;
    excess--;
  }
  return lines.map(line => line.map((cell, i) => truncate(cell, widths[i] ?? cell.length)));
}
