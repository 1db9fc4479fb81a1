import { setImmediate as nextTurn } from 'node:timers/promises';
import { ConntrackSocket, type Flow, type FlowFilter, L4 } from '../../kernel/conntrack/index.ts';
import { withModuleAdvice } from '../../kernel/errors.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { namespaceAddresses } from '../../kernel/network-namespaces.ts';
import { Breaks } from '../../lib/breaks.ts';
import { errorText } from '../../lib/error-text.ts';
import { type Family, type Ip, isLoopback, joinHostPort } from '../../net/index.ts';
import { type AddressOwner, type Connection, type EndedEndpoint, endedConnectionTest } from '../../plan/index.ts';
import { flowEnds } from '../flow-ends.ts';
import type { ConnectedSocket, Mode } from '../mode.ts';
import { ResetAnswers } from './reset-answers.ts';
import { isLeft, type OpenConnection, SocketEnder } from './socket-ender.ts';

/** What became of the connections of endpoints that are gone. */
export interface EndReport {
  readonly ended: ReadonlyMap<EndedEndpoint, EndedCount>;
  /** Why the sockets of some clients may live on. */
  readonly problem: string | undefined;
}

export interface EndedCount {
  readonly connections: number;
  /** How many of them have a socket on this machine that the kernel ended. The other end got TCP RST. */
  readonly sockets: number;
}

export interface EnderOptions {
  readonly namespace: NetworkNamespace | undefined;
  /** The mode may connect sockets straight to endpoints, or relay connections. */
  readonly mode: Pick<Mode, 'sockets' | 'endConnections'>;
  /** Paths of network namespaces that may have clients. The default is all of the machine. */
  readonly otherNamespaces?: (() => Iterable<string>) | undefined;
}

/** With more endpoints, one list of all TCP flows costs less than a list for each endpoint. */
const MAX_SEARCHES = 8;
/** The kernel deletes this many flows in about a millisecond. */
const DELETES_PER_TURN = 250;

/** Ends the TCP connections of endpoints that are gone. */
export class ConnectionEnder {
  readonly #options: EnderOptions;
  readonly #sockets: SocketEnder;
  readonly #answers: ResetAnswers;

  constructor(options: EnderOptions) {
    this.#options = options;
    this.#sockets = new SocketEnder(options.namespace, options.otherNamespaces);
    this.#answers = new ResetAnswers(options.namespace);
  }

  async end(
    family: Family,
    ended: readonly EndedEndpoint[],
    allowExternalIPs: boolean,
    ownerAt: AddressOwner,
  ): Promise<EndReport> {
    const { mode, namespace } = this.#options;
    const find = endedConnectionTest(ended, allowExternalIPs, nodeAddressTest(ended, namespace), ownerAt);
    const sockets = (await mode.sockets?.())?.sockets ?? [];
    const connections = [...translatedSockets(family, sockets, find)];
    const conntrack = ConntrackSocket.open({ namespace });
    const breaks = new Breaks();
    try {
      for (const flow of await findFlows(conntrack, family, ended)) {
        const endpoint = find(flowEnds(flow));
        if (endpoint) connections.push(trackedConnection(flow, endpoint));
        if (breaks.isDue) await breaks.take();
      }
      // TCP RST must come first: without its flow, the kernel would not translate it.
      const problem = await this.#sockets.end(connections);
      await nextTurn();
      const relayed = await mode.endConnections?.(ended);
      const unanswered = await this.#answerOthers(family, connections.filter(isLeft));
      const flows = connections.flatMap(({ flow }) => flow ?? []);
      for (let from = 0; from < flows.length; from += DELETES_PER_TURN) {
        await conntrack.delete(flows.slice(from, from + DELETES_PER_TURN));
        await nextTurn();
      }
      return { ended: countByEndpoint(connections, relayed), problem: unanswered ?? problem };
    } catch (error) {
      throw withModuleAdvice(error, 'nf_conntrack_netlink');
    } finally {
      conntrack.close();
    }
  }

  /** Returns why clients whose socket lives on may get no answer. Their flows are deleted all the same. */
  async #answerOthers(family: Family, left: readonly OpenConnection[]): Promise<string | undefined> {
    try {
      await this.#answers.add(
        family,
        left.flatMap(({ flow }) => flow ?? []),
      );
      return undefined;
    } catch (error) {
      return `the kernel answers no packets of ended connections: ${errorText(error)}`;
    }
  }

  close(): void {
    this.#answers.close();
  }
}

/** Lists the addresses of the node only if a Service has a node port. */
function nodeAddressTest(ended: readonly EndedEndpoint[], namespace: NetworkNamespace | undefined) {
  if (ended.every(({ port }) => port.nodePort === 0)) return () => false;
  const addresses: ReadonlySet<string> = namespaceAddresses(namespace);
  return (ip: string) => addresses.has(ip) || isLoopback(ip as Ip);
}

async function findFlows(
  conntrack: ConntrackSocket,
  family: Family,
  ended: readonly EndedEndpoint[],
): Promise<readonly Flow[]> {
  const endpoints = new Map(ended.map(({ endpoint }) => [endpoint.text, endpoint]));
  const allTcp = { family, protocol: L4.TCP };
  const filters: readonly FlowFilter[] =
    endpoints.size > MAX_SEARCHES
      ? [allTcp]
      : Array.from(endpoints.values(), ({ ip, port }) => ({ ...allTcp, reply: { src: ip, srcPort: port } }));
  const flows: Flow[] = [];
  for (const filter of filters) {
    for await (const batch of conntrack.batchesInBackground(filter)) {
      for (const flow of batch) {
        if (isOpen(flow) && endpoints.has(joinHostPort(flow.reply.src, flow.reply.srcPort))) flows.push(flow);
      }
    }
  }
  return flows;
}

/** The kernel forgets a connection within two minutes after its end. Such connections need nothing. */
function isOpen({ state }: Flow): boolean {
  return state !== 'TIME_WAIT' && state !== 'CLOSE';
}

function trackedConnection(flow: Flow, endpoint: EndedEndpoint): OpenConnection {
  const { family, original, reply } = flow;
  // The client still tries to connect. Without the flow, its next SYN goes to another endpoint.
  if (flow.state === 'SYN_SENT') return { endpoint, flow, ends: [], isEnded: false };
  const ends = [original, reply].map(({ src, srcPort, dst, dstPort }) => ({
    family,
    local: { ip: src, port: srcPort },
    remote: { ip: dst, port: dstPort },
  }));
  return { endpoint, flow, ends, isEnded: false };
}

function* translatedSockets(
  family: Family,
  sockets: Iterable<ConnectedSocket>,
  find: (connection: Connection) => EndedEndpoint | undefined,
): Generator<OpenConnection> {
  for (const { service, endpoint: answeredBy, caller } of sockets) {
    const endpoint = find({ destination: service, answeredBy });
    if (!endpoint || !caller) continue;
    yield { endpoint, flow: undefined, ends: [{ family, local: caller, remote: answeredBy }], isEnded: false };
  }
}

function countByEndpoint(
  connections: readonly OpenConnection[],
  relayed: ReadonlyMap<EndedEndpoint, number> = new Map(),
): ReadonlyMap<EndedEndpoint, EndedCount> {
  const counts = new Map<EndedEndpoint, EndedCount>();
  for (const [endpoint, count] of relayed) counts.set(endpoint, { connections: count, sockets: count });
  for (const { endpoint, isEnded } of connections) {
    const { connections: all, sockets } = counts.get(endpoint) ?? { connections: 0, sockets: 0 };
    counts.set(endpoint, { connections: all + 1, sockets: sockets + (isEnded ? 1 : 0) });
  }
  return counts;
}
