import { ConntrackSocket, type Flow } from '../../kernel/conntrack/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { Breaks } from '../../lib/breaks.ts';
import type { Clock } from '../../lib/clock.ts';
import { joinHostPort } from '../../net/index.ts';
import { BoundedReading } from '../../observe/metrics/index.ts';
import { trafficId } from './figures.ts';
import { type FamilyPlan, FrontendIndex } from './frontend-index.ts';
import { PortFlows } from './port-flows.ts';
import type { ServicePortTraffic } from './service-port-traffic.ts';

export interface FlowTrafficOptions {
  readonly namespace: NetworkNamespace | undefined;
  readonly clock: Clock;
  /** The service ports whose flows count. */
  plans(): Iterable<FamilyPlan>;
  /** A flow that is new counts as a connection to its endpoint. False if the mode has better counters. Default true. */
  readonly countsConnections?: boolean;
}

const MIN_PAUSE_MS = 2000;
/** Limits memory: what a flow carried before is known only of so many flows. The kernel's usual limit is the same. */
const MAX_FLOWS = 262_144;

/** What a flow had carried at the last reading. */
type Carried = readonly [packets: number, bytes: number];
const NOTHING: Carried = [0, 0];

/**
 * The traffic of endpoints, from the flows that the kernel tracks. The kernel keeps a flow for a while after its end, so
 * readings that are not far apart miss little. Flows that come and go between two readings do not count.
 */
export class FlowTraffic {
  readonly #options: FlowTrafficOptions;
  readonly #reading: BoundedReading;
  #ports = new Map<string, PortFlows>();
  /** By the kernel's id of the flow. */
  #flows = new Map<number, Carried>();
  #traffic: readonly ServicePortTraffic[] = [];
  #isClosed = false;

  constructor(options: FlowTrafficOptions) {
    this.#options = options;
    this.#reading = new BoundedReading(options.clock, () => this.#readNow(), MIN_PAUSE_MS);
  }

  /** Reads the kernel at most every two seconds, and in at most a twentieth of the time. */
  async read(): Promise<readonly ServicePortTraffic[]> {
    await this.#reading.refresh();
    return this.#traffic;
  }

  close(): void {
    this.#isClosed = true;
  }

  async #readNow(): Promise<void> {
    if (this.#isClosed) return;
    try {
      const index = await FrontendIndex.of(this.#options.plans());
      await this.#dump(index);
    } catch {
      // The figures stay as they are. The next reading tries again.
    }
  }

  async #dump(index: FrontendIndex): Promise<void> {
    const breaks = new Breaks();
    const flows = new Map<number, Carried>();
    /** By plan and not by id: a reading looks a service port up for each flow. */
    const ports = new Map<FamilyPlan, PortFlows>();
    // Service ports without flows keep their sums as long as they exist.
    for (const id of this.#ports.keys()) {
      const planned = index.byId(id);
      if (planned) this.#portOf(planned, ports);
      if (breaks.isDue) await breaks.take();
    }
    const socket = ConntrackSocket.open({ namespace: this.#options.namespace });
    try {
      for await (const batch of socket.batchesInBackground({})) {
        for (const flow of batch) {
          const found = isTranslated(flow) ? index.find(flow) : undefined;
          if (found) this.#take(flow, this.#portOf(found, ports), flows);
        }
        if (breaks.isDue) await breaks.take();
      }
      this.#flows = flows;
    } finally {
      socket.close();
      // If the dump failed, the flows that it had must not count again.
      if (this.#flows !== flows) for (const [id, carried] of flows) this.#flows.set(id, carried);
    }
    const traffic: ServicePortTraffic[] = [];
    for (const port of ports.values()) {
      port.endReading();
      traffic.push(port.traffic);
      if (breaks.isDue) await breaks.take();
    }
    this.#ports = new Map(Array.from(ports.values(), port => [trafficId(port.names), port]));
    this.#traffic = traffic;
  }

  #portOf(planned: FamilyPlan, ports: Map<FamilyPlan, PortFlows>): PortFlows {
    const known = ports.get(planned);
    if (known) return known;
    const [family, plan] = planned;
    const names = { family, service: plan.service, port: plan.port.name };
    const port = this.#ports.get(trafficId(names)) ?? new PortFlows(names, this.#options.countsConnections ?? true);
    port.beginReading(plan);
    ports.set(planned, port);
    return port;
  }

  #take(flow: Flow, port: PortFlows, flows: Map<number, Carried>): void {
    const { id = 0, reply, counters } = flow;
    const endpoint = joinHostPort(reply.src, reply.srcPort);
    const before = this.#flows.get(id);
    const isRemembered = flows.size < MAX_FLOWS;
    if (isRemembered) flows.set(id, counters ? [counters.packets, counters.bytes] : NOTHING);
    const [packets, bytes] = before ?? NOTHING;
    port.add(endpoint, {
      isNew: before === undefined && isRemembered,
      isActive: isActive(flow),
      carried: counters && isRemembered ? [counters.packets - packets, counters.bytes - bytes] : undefined,
    });
  }
}

function isTranslated({ original, reply }: Flow): boolean {
  return original.dst !== reply.src || original.dstPort !== reply.srcPort;
}

/** TCP and SCTP flows stay in the table for a while after their end. */
function isActive({ state }: Flow): boolean {
  switch (state) {
    case undefined:
    case 'ESTABLISHED':
    case 'SYN_RECV':
    case 'FIN_WAIT':
    case 'CLOSE_WAIT':
    case 'SHUTDOWN_SENT':
    case 'SHUTDOWN_RECD':
      return true;
    default:
      return false;
  }
}
