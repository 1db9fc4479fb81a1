import { setImmediate as nextTurn } from 'node:timers/promises';
import { KernelError } from '../errors.ts';
import { Flag, NetlinkSocket, Protocol, type Request, refusalError, sendRequests } from '../netlink/index.ts';
import type { NetworkNamespace } from '../netns.ts';
import { CtMessage } from './attributes.ts';
import { nfgenmsg } from './family.ts';
import { encodeFilter, encodePlainFilter, type FlowFilter, isPlain, matches, printFilter } from './filter.ts';
import { decodeFlow, encodeFlow, type Flow } from './flow.ts';
import { encodeIdentity, type FlowIdentity, printIdentity } from './identity.ts';
import { batchesInBackground, type FlowSearch, isRefusedFilter, type SearchLimits, searchFlows } from './search.ts';
import { type ConntrackCount, decodeCount } from './stats.ts';

/** How many flows a stream handles before it lets other work run. */
const FLOWS_PER_TURN = 2000;

export interface ConntrackOptions {
  /** Must stay open as long as the socket, because each dump opens its own socket in the namespace. */
  readonly namespace?: NetworkNamespace | undefined;
}

export interface RefusedFlow {
  readonly flow: FlowIdentity;
  readonly error: KernelError;
}

export interface DeleteResult {
  /** How many flows the kernel deleted. */
  readonly deleted: number;
  /** How many flows were gone already. */
  readonly gone: number;
  readonly refused: readonly RefusedFlow[];
}

/** The kernel's table of tracked connections. */
export class ConntrackSocket {
  readonly #open: () => NetlinkSocket;
  readonly #requests: NetlinkSocket;

  constructor(open: () => NetlinkSocket) {
    this.#open = open;
    this.#requests = open();
  }

  static open({ namespace }: ConntrackOptions = {}): ConntrackSocket {
    return new ConntrackSocket(() => NetlinkSocket.open(Protocol.NETFILTER, { namespace }));
  }

  /**
   * The flows that match, one at a time in constant memory. The kernel filters as far as it can, and this process
   * filters the rest. The dump may miss flows that come or go while it runs. Leaving the loop early ends the dump.
   */
  *dump(filter: FlowFilter = {}): Generator<Flow, void, undefined> {
    for (const flow of this.#dumpFlows(filter)) if (flow) yield flow;
  }

  /** The same as `dump`, but it lets other work run in between. */
  async *stream(filter: FlowFilter = {}): AsyncGenerator<Flow, void, undefined> {
    let seen = 0;
    for (const flow of this.#dumpFlows(filter)) {
      if (flow) yield flow;
      if (++seen % FLOWS_PER_TURN === 0) await nextTurn();
    }
  }

  /** The same as `stream`, but threads of the pool wait while the kernel searches its table. */
  async *streamInBackground(filter: FlowFilter): AsyncGenerator<Flow, void, undefined> {
    for await (const batch of this.batchesInBackground(filter)) yield* batch;
  }

  /** The same, many flows at a time, which costs a third. */
  batchesInBackground(filter: FlowFilter): AsyncGenerator<readonly Flow[], void, undefined> {
    return batchesInBackground(this.#open, filter);
  }

  /** The flows that match, up to limits. Threads of the pool wait while the kernel searches its table. */
  search(filter: FlowFilter, limits: SearchLimits): Promise<FlowSearch> {
    return searchFlows(this.#open, filter, limits);
  }

  /** The flow with this original tuple and zone, or undefined if there is none. */
  async get(flow: FlowIdentity): Promise<Flow | undefined> {
    const operation = printIdentity('-G', flow);
    const { refusals, messages } = await sendRequests(this.#requests, [
      { operation, type: CtMessage.GET, flags: 0, write: writer => encodeIdentity(writer, flow) },
    ]);
    const ack = refusals.get(0);
    if (ack?.errno === 'ENOENT') return undefined;
    if (ack) throw refusalError(operation, ack);
    const found = messages[0] && decodeFlow(messages[0].body);
    if (!found) throw new KernelError('KERNEL_PROTOCOL', { operation, reason: 'the answer contains no flow' });
    return found;
  }

  /** Adds flows and returns those that the kernel refused. */
  async create(flows: readonly Flow[]): Promise<readonly RefusedFlow[]> {
    const flags = Flag.CREATE | Flag.EXCL;
    const requests = flows.map(
      (flow): Request => ({
        operation: 'conntrack -I',
        type: CtMessage.NEW,
        flags,
        write: writer => encodeFlow(writer, flow),
      }),
    );
    const { refusals } = await sendRequests(this.#requests, requests);
    const refused: RefusedFlow[] = [];
    for (const [index, ack] of refusals) {
      const flow = flows[index];
      if (flow) refused.push({ flow, error: refusalError(printIdentity('-I', flow), ack) });
    }
    return refused;
  }

  /** Deletes exactly these flows. */
  async delete(flows: readonly FlowIdentity[]): Promise<DeleteResult> {
    const requests = flows.map(
      (flow): Request => ({
        operation: 'conntrack -D',
        type: CtMessage.DELETE,
        flags: 0,
        write: writer => encodeIdentity(writer, flow),
      }),
    );
    const { refusals } = await sendRequests(this.#requests, requests);
    const refused: RefusedFlow[] = [];
    for (const [index, ack] of refusals) {
      const flow = flows[index];
      if (flow && ack.errno !== 'ENOENT') refused.push({ flow, error: refusalError(printIdentity('-D', flow), ack) });
    }
    return { deleted: flows.length - refusals.size, gone: refusals.size - refused.length, refused };
  }

  /** How many flows the table holds, and how many it can hold. */
  async count(): Promise<ConntrackCount> {
    const operation = 'conntrack -C';
    const write: Request['write'] = writer => void writer.struct(nfgenmsg(undefined));
    const { refusals, messages } = await sendRequests(this.#requests, [
      { operation, type: CtMessage.GET_STATS, flags: 0, write },
    ]);
    const ack = refusals.get(0);
    if (ack) throw refusalError(operation, ack);
    const count = messages[0] && decodeCount(messages[0].body);
    if (!count) throw new KernelError('KERNEL_PROTOCOL', { operation, reason: 'the answer contains no count' });
    return count;
  }

  close(): void {
    this.#requests.close();
  }

  /** Every flow that the kernel sends. Yields undefined in place of a flow that does not match. */
  *#dumpFlows(filter: FlowFilter): Generator<Flow | undefined, void, undefined> {
    if (isPlain(filter)) return yield* this.#receiveFlows(filter, encodePlainFilter);
    let sent = false;
    try {
      for (const flow of this.#receiveFlows(filter, encodeFilter)) {
        sent = true;
        yield flow;
      }
    } catch (error) {
      if (sent || !isRefusedFilter(error)) throw error;
      yield* this.#receiveFlows(filter, encodePlainFilter);
    }
  }

  /**
   * Opens a socket for each dump, so that several dumps can run at once. If the caller leaves a dump early, closing the
   * socket discards the rest.
   */
  *#receiveFlows(filter: FlowFilter, encode: typeof encodeFilter): Generator<Flow | undefined, void, undefined> {
    const socket = this.#open();
    try {
      for (const message of socket.dump(printFilter(filter), CtMessage.GET, writer => encode(writer, filter))) {
        const flow = decodeFlow(message.body);
        yield flow && matches(filter, flow) ? flow : undefined;
      }
    } finally {
      socket.close();
    }
  }
}
