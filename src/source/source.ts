import type { EndpointSlice, Node, Service, ServiceCIDR } from '../api/index.ts';
import type { Change } from '../lib/change.ts';
import type { Problem } from '../lib/problem.ts';

/** The receiver of a source's objects. The source makes one call at a time, in the order of the changes. */
export interface SourceHandlers {
  serviceChanged(change: Change<Service>): void;
  endpointSliceChanged(change: Change<EndpointSlice>): void;
  nodeChanged(change: Change<Node>): void;
  serviceCidrChanged(change: Change<ServiceCIDR>): void;
  /** The handlers have every object that existed at the start. Called once. */
  synced(): void;
  /** Some input cannot be used. The last good version of an object stays in use. */
  problem(problem: Problem): void;
  /** All problems at this place are solved. */
  recovered?(where: string): void;
}

/** Where objects come from. */
export interface Source {
  /** Calls the handlers: first for all objects that exist, then for changes, until the source is closed. */
  start(handlers: SourceHandlers): Promise<void>;
  close(): Promise<void>;
}
