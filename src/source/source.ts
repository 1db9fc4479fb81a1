import type { EndpointSlice, Node, Service, ServiceCIDR } from '../api/index.ts';
import type { Change } from '../lib/change.ts';
import type { Problem } from '../lib/problem.ts';

/** Who wants to hear of objects. Calls come one at a time, in the order of the changes. */
export interface SourceHandlers {
  service(change: Change<Service>): void;
  endpointSlice(change: Change<EndpointSlice>): void;
  node(change: Change<Node>): void;
  serviceCidr(change: Change<ServiceCIDR>): void;
  /** Every object that existed at the start has been handed over. Called once. */
  synced(): void;
  /** Input that could not be used. It stands in nobody's way: the last good version of the object stays. */
  problem(problem: Problem): void;
  /** What was a problem there is none any more. */
  recovered?(where: string): void;
}

/** Where objects come from. */
export interface Source {
  /** Starts handing over objects: first all that exist, then changes. Ends when the source is closed. */
  start(handlers: SourceHandlers): Promise<void>;
  close(): Promise<void>;
}
