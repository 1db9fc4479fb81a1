import { type Flow, type FlowState, L4 } from '../kernel/conntrack/index.ts';
import type { ServicePort } from '../model/index.ts';
import { joinHostPort } from '../net/index.ts';

/** What a look at the kernel's table of connections shows of an endpoint. */
export interface EndpointConnections {
  /** Open connections. */
  connections: number;
  /** Those of them that came since the last look. */
  arrivals: number;
}

/** Limits memory: of more flows, the proxy remembers only a sample, and each flow of the sample counts for several. */
const MAX_REMEMBERED = 16_384;

/** A connection that is ending is no load any more. */
const OPEN_STATES: ReadonlySet<FlowState | undefined> = new Set([
  'SYN_SENT',
  'SYN_SENT2',
  'SYN_RECV',
  'COOKIE_WAIT',
  'COOKIE_ECHOED',
  'ESTABLISHED',
] as const);

/** Counts the open connections of endpoints, one look at the kernel's table after another. */
export class OpenConnections {
  readonly #found = new Map<string, EndpointConnections>();
  /** The identities of flows that this look found. */
  #ids: Set<number> | undefined;
  /** Those that the look before found. Undefined in the first look. */
  #before: ReadonlySet<number> | undefined;
  /** Only flows whose identity has none of these bits are remembered. The kernel's identities are hashes. */
  #mask = 0;

  /** Begins a look. Endpoints that are not among the keys do not count. */
  begin(keys: Iterable<string>): void {
    this.#found.clear();
    for (const key of keys) this.#found.set(key, { connections: 0, arrivals: 0 });
    this.#before = this.#ids;
    this.#ids = new Set();
  }

  /** A direct connection to the endpoint counts as well: it is the same load. */
  add(flow: Flow): void {
    const found = this.#found.get(answeringKey(flow));
    if (!found || !isOpen(flow)) return;
    found.connections++;
    const { id } = flow;
    if (id === undefined || (id & this.#mask) !== 0) return;
    if (this.#before && !this.#before.has(id)) found.arrivals += this.#mask + 1;
    this.#ids?.add(id);
    if (this.#ids && this.#ids.size > MAX_REMEMBERED) this.#thinOut(this.#ids);
  }

  of(key: string): EndpointConnections {
    return this.#found.get(key) ?? { connections: 0, arrivals: 0 };
  }

  #thinOut(ids: Set<number>): void {
    this.#mask = 2 * this.#mask + 1;
    for (const id of ids) if ((id & this.#mask) !== 0) ids.delete(id);
  }
}

/** `6 10.0.0.1:80` */
export function endpointKey(protocol: ServicePort['protocol'], endpoint: string): string {
  return `${L4[protocol]} ${endpoint}`;
}

/** The key of the endpoint that answers. */
export function answeringKey({ protocol, reply }: Flow): string {
  return `${protocol} ${joinHostPort(reply.src, reply.srcPort)}`;
}

function isOpen({ protocol, state }: Flow): boolean {
  return protocol === L4.UDP || OPEN_STATES.has(state);
}
