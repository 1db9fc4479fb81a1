import type { EndpointUse } from '../explain/index.ts';

export const SOCKETS_SCHEMA = 'pointsman.sockets/v1';
export const SOCKET_COUNTS_SCHEMA = 'pointsman.socket-counts/v1';

/** What the answers about sockets have in common. */
export interface SocketsHead {
  readonly node: string;
  /** The name of the mode. */
  readonly mode: string;
  /** The mode leads sockets to endpoints, so there is something to list. */
  readonly isAvailable: boolean;
  /** Why there is no list, and how to see connections otherwise. Absent if the list is complete. */
  readonly note?: string;
}

/** A socket, and the names that belong to its addresses. A line of `/v1/sockets`. */
export interface SocketRow {
  /** `ns/name`. Absent if no Service has the address any more. */
  readonly service?: string | undefined;
  /** The name of the Service's port, or its number. Absent without a Service. */
  readonly port?: string | undefined;
  /** `ip:port` that the caller asked for. */
  readonly address: string;
  /** `ip:port` */
  readonly endpoint: string;
  /** `ns/name` of the pod. Absent if no EndpointSlice names it. */
  readonly endpointPod?: string | undefined;
  /** Absent without a Service. */
  readonly endpointUse?: EndpointUse | undefined;
  /** `ip:port` of the socket itself. */
  readonly caller?: string | undefined;
  /** `ns/name` of the pod. Absent if no EndpointSlice names it. */
  readonly callerPod?: string | undefined;
  /** The caller is a process in the network namespace of the node. */
  readonly isOfNode: boolean;
  /** As `ss` prints it: `ESTAB`. */
  readonly state?: string | undefined;
}

/** How many sockets are connected, by Service and endpoint. `/v1/socket-counts` */
export interface SocketCounts extends SocketsHead {
  /** The sockets of all rows, also of those that are not listed. */
  readonly sockets: number;
  /** Sorted by Service, port and endpoint. If there are too many, those with the most sockets. */
  readonly endpoints: readonly EndpointCount[];
  /** How many rows there are in all. */
  readonly endpointCount: number;
}

export interface EndpointCount
  extends Pick<SocketRow, 'service' | 'port' | 'endpoint' | 'endpointPod' | 'endpointUse'> {
  /** Only without a Service. */
  readonly address?: string | undefined;
  readonly sockets: number;
  /** The callers with the most sockets. */
  readonly callers: readonly CallerCount[];
  /** How many callers there are in all. */
  readonly callerCount: number;
}

export interface CallerCount {
  /** `ns/name` of the pod, `node`, or an address. */
  readonly name: string;
  readonly sockets: number;
}
