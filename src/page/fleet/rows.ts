import type { ServiceRow } from '../../inspect/index.ts';

export const FLEET_SCHEMA = 'pointsman.fleet/v1';
export const FLEET_SERVICE_SCHEMA = 'pointsman.fleetService/v1';

/** The first line of both answers. */
export interface FleetHead {
  readonly schema: string;
  /** How many lines follow. */
  readonly nodes: number;
  /** What limits the answer: `cannot list nodes: …`. */
  readonly notes: readonly string[];
}

/** A line of `/v1/fleet`. */
export type FleetRow = NodeRow | SilentNode;

/** A line of `/v1/fleet/service`. */
export type FleetServiceRow = NodeServiceRow | SilentNode;

interface Answered {
  readonly node: string;
  readonly pod: string;
  /** How long the answer took. */
  readonly milliseconds: number;
}

/** How the proxy of a node is. Times are texts in the form of RFC 3339. */
export interface NodeRow extends Answered {
  readonly version: string;
  readonly mode: string;
  readonly ready: boolean;
  /** Some changes are not in the kernel yet. */
  readonly pending: boolean;
  readonly watches: { readonly all: number; readonly synced: number; readonly problem?: string | undefined };
  readonly syncs: {
    readonly failed: number;
    readonly last?: string | undefined;
    /** Why the last one failed. */
    readonly error?: string | undefined;
  };
  readonly repairs: number;
  readonly problems: number;
  readonly servicePorts: { readonly programmed: number; readonly setAside: number };
}

/**
 * noProxy       the Node has no proxy pod
 * notRunning    the pod does not run
 * noPage        the pod has no page, or not on an address that the API server reaches
 * forbidden     the user may not ask pods through the API server
 * token         the page does not accept the token
 * timeout       there was no answer in time
 * otherProgram  the answer is not from a Pointsman proxy that knows the question
 * failed        anything else
 */
export type SilenceKind =
  | 'noProxy'
  | 'notRunning'
  | 'noPage'
  | 'forbidden'
  | 'token'
  | 'timeout'
  | 'otherProgram'
  | 'failed';

/** A node that gave no answer. */
export interface SilentNode {
  readonly node: string;
  readonly pod?: string | undefined;
  readonly silence: { readonly kind: SilenceKind; readonly reason: string };
}

/** One Service on one node. The contents of a digest are in the first line that has this digest. */
export interface NodeServiceRow extends Answered {
  /** Undefined if the node does not know the Service. */
  readonly row?: Pick<ServiceRow, 'state' | 'reasons' | 'changed' | 'endpoints'> | undefined;
  /** The digest of what the objects say. It does not depend on the node. */
  readonly known?: string | undefined;
  /** The digest of the endpoints that the node uses. */
  readonly used?: string | undefined;
  /** The contents of digests that no line before had. */
  readonly contents: Readonly<Record<string, KnownService | UsedEndpoints>>;
}

/** What a node's copies of the Service and of its EndpointSlices say. All lists are sorted. */
export interface KnownService {
  readonly kind: 'known';
  readonly ports: readonly KnownPort[];
}

export interface KnownPort {
  /** `IPv4 http/TCP` */
  readonly id: string;
  readonly internalTrafficPolicy: string;
  readonly externalTrafficPolicy?: string | undefined;
  readonly affinitySeconds?: number | undefined;
  /** `ClusterIP 10.96.0.1:80` */
  readonly frontends: readonly string[];
  readonly endpoints: readonly KnownEndpoint[];
}

export interface KnownEndpoint {
  readonly address: string;
  readonly node?: string | undefined;
  readonly hints?: readonly string[] | undefined;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
}

/** The addresses that the node uses, by policy. A policy that no traffic of the port has is absent. */
export interface UsedEndpoints {
  readonly kind: 'used';
  readonly ports: readonly {
    readonly id: string;
    readonly cluster?: readonly string[] | undefined;
    readonly local?: readonly string[] | undefined;
  }[];
}
