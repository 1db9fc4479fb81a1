import { type FlowFilter, L4 } from '../kernel/conntrack/index.ts';
import { Breaks } from '../lib/breaks.ts';
import { planId, reachableEndpoints, type ServicePortPlan } from '../plan/index.ts';
import { ConnectionPoll, type ConnectionPollOptions } from './connection-poll.ts';
import { endpointKey, OpenConnections } from './open-connections.ts';
import type { WatchedPort } from './watched-port.ts';

export interface LeastConnectionsOptions extends Pick<ConnectionPollOptions, 'clock' | 'namespace' | 'open'> {
  /** The service ports that want least connections. */
  ports(): readonly WatchedPort[];
  plansOf(port: WatchedPort): readonly ServicePortPlan[];
  sharesChanged(port: WatchedPort): void;
  onError(error: unknown): void;
}

/** In one look, at most this many service ports get other shares. The next looks change the rest. */
const MAX_CHANGES_PER_LOOK = 64;

/**
 * Gives endpoints with fewer open connections a larger share of the next ones, for modes whose kernel part only takes
 * turns. It looks at the kernel's table of connections while there are service ports that want it.
 */
export class LeastConnections {
  readonly #options: LeastConnectionsOptions;
  #connections = new OpenConnections();
  #poll: ConnectionPoll | undefined;
  /** Where the next look begins, so that each service port has its turn. */
  #first = 0;

  constructor(options: LeastConnectionsOptions) {
    this.#options = options;
  }

  /** The service ports changed. */
  update(): void {
    const isWanted = this.#options.ports().length > 0;
    if (isWanted === (this.#poll !== undefined)) return;
    void this.close();
    if (isWanted) this.#start();
  }

  async close(): Promise<void> {
    const poll = this.#poll;
    this.#poll = undefined;
    await poll?.close();
  }

  #start(): void {
    const { clock, namespace, open, onError } = this.#options;
    this.#connections = new OpenConnections();
    try {
      this.#poll = new ConnectionPoll({
        clock,
        namespace,
        open,
        onError,
        filters: () => this.#begin(),
        found: flow => this.#connections.add(flow),
        finished: () => this.#finish(),
      });
    } catch (error) {
      onError(error);
    }
  }

  async #begin(): Promise<readonly FlowFilter[]> {
    const breaks = new Breaks();
    const ports = this.#options.ports();
    const keys: string[] = [];
    for (const { protocol, endpoints } of ports) {
      for (const { text } of endpoints) keys.push(endpointKey(protocol, text));
      if (breaks.isDue) await breaks.take();
    }
    this.#connections.begin(keys);
    return flowFilters(ports);
  }

  async #finish(): Promise<void> {
    const { ports, plansOf, sharesChanged } = this.#options;
    const breaks = new Breaks();
    const all = ports();
    const first = this.#first % all.length || 0;
    let changes = 0;
    for (const [i, port] of [...all.slice(first), ...all.slice(0, first)].entries()) {
      if (breaks.isDue) await breaks.take();
      const plan = plansOf(port).find(candidate => planId(candidate) === port.id);
      if (!plan || !this.#level(port, plan)) continue;
      sharesChanged(port);
      this.#first = first + i + 1;
      if (++changes === MAX_CHANGES_PER_LOOK) return;
    }
  }

  /** Returns true if a share changed. */
  #level(port: WatchedPort, { endpoints }: ServicePortPlan): boolean {
    const used = reachableEndpoints(endpoints);
    const found = used.map(({ text }) => this.#connections.of(endpointKey(port.protocol, text)));
    const arrivals = found.reduce((sum, endpoint) => sum + endpoint.arrivals, 0);
    const loads = found.map(({ connections }, i) => ({ connections, part: port.startShare(used[i]?.text ?? '') }));
    const shares = port.leveling.shares(loads, arrivals);
    return port.setLevelShares(new Map(used.map(({ text }, i) => [text, shares[i] ?? 1])));
  }
}

/** One look for each family and protocol. If all endpoints have the same port, the kernel sends only flows from there. */
function flowFilters(ports: readonly WatchedPort[]): readonly FlowFilter[] {
  const groups = new Map<string, FlowFilter & { readonly endpointPorts: Set<number> }>();
  for (const { family, protocol, endpoints } of ports) {
    const key = `${family} ${protocol}`;
    const group = groups.get(key) ?? { family, protocol: L4[protocol], endpointPorts: new Set() };
    groups.set(key, group);
    for (const { port } of endpoints) group.endpointPorts.add(port);
  }
  return Array.from(groups.values(), ({ endpointPorts, ...filter }) => {
    const [srcPort] = endpointPorts;
    return endpointPorts.size === 1 && srcPort !== undefined ? { ...filter, reply: { srcPort } } : filter;
  });
}
