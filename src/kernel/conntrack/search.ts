import { setImmediate as nextTurn } from 'node:timers/promises';
import { KernelError } from '../errors.ts';
import type { NetlinkSocket } from '../netlink/index.ts';
import { CtMessage } from './attributes.ts';
import { encodeFilter, encodePlainFilter, type FlowFilter, matches, printFilter } from './filter.ts';
import { decodeFlow, type Flow } from './flow.ts';

/** How many flows a search handles before it lets other work run. */
const FLOWS_PER_TURN = 1000;

export interface SearchLimits {
  readonly limit: number;
  /** How many flows the kernel may send. A kernel that cannot compare everything sends flows that do not match. */
  readonly maxReceived: number;
}

export interface FlowSearch {
  readonly flows: readonly Flow[];
  /** The limit that ended the search early. Undefined if these are all flows. */
  readonly ended: 'limit' | 'received' | undefined;
}

/** Opens a socket for each dump. If the search ends early, closing the socket discards the rest. */
export async function searchFlows(
  open: () => NetlinkSocket,
  filter: FlowFilter,
  limits: SearchLimits,
): Promise<FlowSearch> {
  try {
    return await search(open, filter, encodeFilter, limits);
  } catch (error) {
    // The kernel refuses a filter before it sends anything.
    if (!isRefusedFilter(error)) throw error;
    return search(open, filter, encodePlainFilter, limits);
  }
}

async function search(
  open: () => NetlinkSocket,
  filter: FlowFilter,
  encode: typeof encodeFilter,
  { limit, maxReceived }: SearchLimits,
): Promise<FlowSearch> {
  const flows: Flow[] = [];
  let received = 0;
  for await (const batch of receive(open, filter, encode)) {
    for (const flow of batch) {
      if (received++ === maxReceived) return { flows, ended: 'received' };
      if (!flow) continue;
      if (flows.length === limit) return { flows, ended: 'limit' };
      flows.push(flow);
    }
  }
  return { flows, ended: undefined };
}

/** All flows that match, many at a time. Threads of the pool wait while the kernel searches its table. */
export async function* batchesInBackground(
  open: () => NetlinkSocket,
  filter: FlowFilter,
): AsyncGenerator<readonly Flow[], void, undefined> {
  const isFlow = (flow: Flow | undefined) => flow !== undefined;
  try {
    for await (const batch of receive(open, filter, encodeFilter)) yield batch.filter(isFlow);
  } catch (error) {
    if (!isRefusedFilter(error)) throw error;
    for await (const batch of receive(open, filter, encodePlainFilter)) yield batch.filter(isFlow);
  }
}

/** Yields undefined in place of a flow that does not match. */
async function* receive(
  open: () => NetlinkSocket,
  filter: FlowFilter,
  encode: typeof encodeFilter,
): AsyncGenerator<readonly (Flow | undefined)[], void, undefined> {
  const socket = open();
  let received = 0;
  try {
    const batches = socket.batchesInBackground(printFilter(filter), CtMessage.GET, writer => encode(writer, filter));
    for await (const batch of batches) {
      yield batch.map(({ body }) => {
        const flow = decodeFlow(body);
        return flow && matches(filter, flow) ? flow : undefined;
      });
      received += batch.length;
      if (received < FLOWS_PER_TURN) continue;
      received = 0;
      await nextTurn();
    }
  } finally {
    socket.close();
  }
}

/** These are the errors of a kernel that knows filters, but not every part of this filter. */
export function isRefusedFilter(error: unknown): boolean {
  return (
    error instanceof KernelError &&
    error.code === 'KERNEL_REFUSED' &&
    (error.errno === 'EINVAL' || error.errno === 'EOPNOTSUPP')
  );
}
