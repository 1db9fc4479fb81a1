import { Breaks, sortWithBreaks } from '../lib/breaks.ts';
import { compareTexts } from '../lib/compare-texts.ts';
import type { CallerCount, EndpointCount, SocketCounts, SocketRow } from './socket-rows.ts';

/** The answer is made in one go. */
const MAX_ENDPOINTS = 2000;
const MAX_CALLERS = 10;

interface Tally {
  readonly row: SocketRow;
  sockets: number;
  readonly callers: Map<string, number>;
}

/** Counts sockets by Service, port and endpoint. */
export async function countSockets(
  groups: AsyncIterable<readonly SocketRow[]>,
): Promise<Pick<SocketCounts, 'sockets' | 'endpoints' | 'endpointCount'>> {
  const tallies = new Map<string, Tally>();
  let sockets = 0;
  for await (const rows of groups) {
    sockets += rows.length;
    for (const row of rows) count(row, tallies);
  }
  const breaks = new Breaks();
  const most = await sortWithBreaks([...tallies.values()], (a, b) => b.sockets - a.sockets, breaks);
  const shown = most.slice(0, MAX_ENDPOINTS).sort((a, b) => compareTexts(sortKey(a.row), sortKey(b.row)));
  return { sockets, endpoints: shown.map(endpointCount), endpointCount: tallies.size };
}

/** The name of a caller: its pod, `node`, or its address without the port. */
export function callerName({ caller, callerPod, isOfNode }: SocketRow): string {
  if (isOfNode) return 'node';
  if (callerPod !== undefined || caller === undefined) return callerPod ?? 'unknown';
  const ip = caller.slice(0, caller.lastIndexOf(':'));
  return ip.startsWith('[') ? ip.slice(1, -1) : ip;
}

function count(row: SocketRow, tallies: Map<string, Tally>): void {
  const key = sortKey(row);
  const tally = tallies.get(key) ?? { row, sockets: 0, callers: new Map() };
  tallies.set(key, tally);
  tally.sockets++;
  const name = callerName(row);
  tally.callers.set(name, (tally.callers.get(name) ?? 0) + 1);
}

/** Sockets without a Service come last, by the address that they asked for. */
function sortKey({ service, port = '', address, endpoint }: SocketRow): string {
  return `${service === undefined ? `~ ${address}` : `${service} ${port}`} ${endpoint}`;
}

function endpointCount({ row, sockets, callers }: Tally): EndpointCount {
  const { service, port, address, endpoint, endpointPod, endpointUse } = row;
  const sorted = [...callers].map(([name, each]): CallerCount => ({ name, sockets: each }));
  sorted.sort((a, b) => b.sockets - a.sockets || compareTexts(a.name, b.name));
  return {
    service,
    port,
    address: service === undefined ? address : undefined,
    endpoint,
    endpointPod,
    endpointUse,
    sockets,
    callers: sorted.slice(0, MAX_CALLERS),
    callerCount: callers.size,
  };
}
