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
  readonly object?: ServiceObject;
  readonly ports: readonly PortDetail[];
  /** The zone of this node. Empty if it has none. */
  readonly zone: string;
}

/** What the object says beside the row. A proxy keeps only the labels and annotations that it uses. */
export interface ServiceObject {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Without a selector, no controller makes its EndpointSlices. */
  readonly hasSelector: boolean;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

export interface PortDetail extends Omit<PortReport, 'frontends' | 'endpoints'> {
  readonly frontends: readonly FrontendDetail[];
  /** Addresses that the port wants and another Service owns. */
  readonly conflicts: readonly { readonly address: string; readonly owner: string }[];
  /** The first thousand. */
  readonly endpoints: readonly EndpointDetail[];
  /** How many there are in all. */
  readonly endpointCount: number;
}

export interface FrontendDetail extends FrontendReport {
  /** What a connection to this frontend gets, by the place of its caller. */
  readonly outcomes: Readonly<Record<Place, Outcome>>;
  /** The address that the outcomes are about. For a node port it is one of the node. */
  readonly askedAt: string;
  /** How many endpoints answer. An outcome has the first hundred of them. */
  readonly answering: Readonly<Record<Place, number>>;
  /** How many endpoints get connections although their answers are lost. An outcome has the first hundred of them. */
  readonly losing: Readonly<Record<Place, number>>;
}

export interface EndpointDetail extends EndpointReport {
  /** `ns/name` of the pod. */
  readonly pod?: string;
  readonly zone?: string;
  /** `ns/name` of the EndpointSlice. */
  readonly slice?: string;
  /** The zones, and the nodes, that should use it. */
  readonly hints?: readonly string[];
  readonly nodeHints?: readonly string[];
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

export const SEARCH_SCHEMA = 'pointsman.search/v1';

/** Services that have an address, a port, a pod or a node. `/v1/search?q=…` */
export interface SearchAnswer {
  readonly query: string;
  /** The first two hundred. A Service can be there several times. */
  readonly results: readonly SearchResult[];
  /** There are more. */
  readonly isCut: boolean;
}

export interface SearchResult {
  /** `ns/name` */
  readonly service: string;
  readonly kind: 'address' | 'port' | 'endpoint' | 'pod' | 'node';
  /** `endpoint 10.244.1.10 is pod default/web-1` */
  readonly why: string;
}
