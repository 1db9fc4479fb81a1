import { reachableEndpoints, type ServicePortPlan } from '../../plan/index.ts';
import type { ServicePortTraffic, TrafficFigures } from './service-port-traffic.ts';

interface Sums {
  connections: number | undefined;
  active: number;
  packets: number | undefined;
  bytes: number | undefined;
}

/** What one flow adds at a reading. */
export interface FlowShare {
  readonly isNew: boolean;
  readonly isActive: boolean;
  /** Packets and bytes since the reading before. Undefined if the kernel does not count them. */
  readonly carried: readonly [packets: number, bytes: number] | undefined;
}

/** The flows of one service port, summed up by endpoint. */
export class PortFlows {
  readonly names: Pick<ServicePortTraffic, 'family' | 'service' | 'port'>;
  readonly #countsConnections: boolean;
  readonly #sums = newSums(false);
  readonly #endpoints = new Map<string, Sums>();
  #planned: ReadonlySet<string> = new Set();

  constructor(names: Pick<ServicePortTraffic, 'family' | 'service' | 'port'>, countsConnections: boolean) {
    this.names = names;
    this.#countsConnections = countsConnections;
  }

  beginReading(plan: ServicePortPlan): void {
    this.#planned = new Set(reachableEndpoints(plan.endpoints).map(({ text }) => text));
    this.#sums.active = 0;
    for (const sums of this.#endpoints.values()) sums.active = 0;
  }

  add(endpoint: string, share: FlowShare): void {
    let sums = this.#endpoints.get(endpoint);
    if (!sums) {
      sums = newSums(this.#countsConnections);
      this.#endpoints.set(endpoint, sums);
    }
    addTo(sums, share);
    addTo(this.#sums, share);
  }

  /** Endpoints that left the plan and have no open connection are forgotten. */
  endReading(): void {
    for (const [endpoint, { active }] of this.#endpoints) {
      if (active === 0 && !this.#planned.has(endpoint)) this.#endpoints.delete(endpoint);
    }
  }

  get traffic(): ServicePortTraffic {
    const { active, packets, bytes } = this.#sums;
    const endpoints = new Map<string, TrafficFigures>();
    for (const [endpoint, sums] of this.#endpoints) endpoints.set(endpoint, { ...sums });
    // The kernel's counters of the service port are more exact than the connections that readings saw.
    return { ...this.names, active, packets, bytes, endpoints };
  }
}

function newSums(countsConnections: boolean): Sums {
  return { connections: countsConnections ? 0 : undefined, active: 0, packets: undefined, bytes: undefined };
}

function addTo(sums: Sums, { isNew, isActive, carried }: FlowShare): void {
  if (isNew && sums.connections !== undefined) sums.connections++;
  if (isActive) sums.active++;
  if (!carried) return;
  sums.packets = (sums.packets ?? 0) + Math.max(0, carried[0]);
  sums.bytes = (sums.bytes ?? 0) + Math.max(0, carried[1]);
}
