import type { Outcome, Place } from '../explain/index.ts';
import type { EntryState, KernelEntry, PinnedClient } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import type { EndpointReport, FrontendReport, PortReport } from './service-report.ts';
import type { ServiceRow } from './services-row.ts';

export const SERVICE_SCHEMA = 'pointsman.service/v1';

/** Everything about one Service that needs no kernel. `/v1/service?name=ns/name` */
export interface ServiceDetail {
  readonly row: ServiceRow;
  /** Undefined if the object cannot be used. */
  readonly object?: {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly selector: Readonly<Record<string, string>>;
  };
  readonly ports: readonly PortDetail[];
  /** The zone of this node. Empty if it has none. */
  readonly zone: string;
}

export interface PortDetail extends Omit<PortReport, 'frontends' | 'endpoints'> {
  readonly frontends: readonly FrontendDetail[];
  readonly endpoints: readonly EndpointDetail[];
}

export interface FrontendDetail extends FrontendReport {
  /** What a connection to this frontend gets, by the place of its caller. */
  readonly outcomes: Readonly<Record<Place, Outcome>>;
}

export interface EndpointDetail extends EndpointReport {
  /** `ns/name` of the pod. */
  readonly pod?: string;
  readonly zone?: string;
  readonly hints?: readonly string[];
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
}

export const KERNEL_SCHEMA = 'pointsman.kernel/v1';

/** What the kernel has for a Service, beside what the mode wants. `/v1/kernel?service=ns/name` */
export interface KernelDetail {
  readonly ports: readonly PortKernelDetail[];
}

export interface PortKernelDetail {
  readonly name: string;
  readonly protocol: string;
  readonly family: Family;
  readonly entries: readonly (KernelEntry & { readonly state: EntryState })[];
  readonly affinity: readonly PinnedClient[];
  readonly incomplete?: string | undefined;
}
