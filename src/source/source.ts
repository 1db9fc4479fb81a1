import type { EndpointSlice, Node, Service, ServiceCIDR } from '../api/index.ts';
import type { Change } from '../lib/change.ts';

/** Who wants to hear of objects. Calls come one at a time, in the order of the changes. */
export interface SourceHandlers {
  service(change: Change<Service>): void;
  endpointSlice(change: Change<EndpointSlice>): void;
  node(change: Change<Node>): void;
  serviceCidr(change: Change<ServiceCIDR>): void;
  /** Every object that existed at the start has been handed over. Called once. */
  synced(): void;
  /** Input that could not be used. It stands in nobody's way: the last good version of the object stays. */
  problem(problem: SourceProblem): void;
  /** What was a problem there is none any more. */
  recovered?(where: string): void;
}

export interface SourceProblem {
  /** Where it is: a file with line and column, or an API path. */
  readonly where: string;
  /** The object, where it could be told: `Service default/web`. */
  readonly object?: string | undefined;
  /** The field at fault: `spec.ports[0].port`. */
  readonly field?: string | undefined;
  /** What is wrong and what to do. */
  readonly message: string;
}

/** Where objects come from. */
export interface Source {
  /** Starts handing over objects: first all that exist, then changes. Ends when the source is closed. */
  start(handlers: SourceHandlers): Promise<void>;
  close(): Promise<void>;
}
