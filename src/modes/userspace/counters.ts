/** What went through one service port since it is there. Bytes towards the endpoints are `in`. */
export interface PortCounters {
  /** TCP connections, or clients of UDP, that reached an endpoint. */
  readonly connections: number;
  /** Those that are there now. */
  readonly active: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Connections that could not be had of an endpoint; each may have been had of another. */
  readonly dialFailures: number;
  /** Connections, or datagrams, that nobody got: no endpoint took them, or there was no room. */
  readonly failures: number;
}

export type MutableCounters = { -readonly [name in keyof PortCounters]: number };

export function newCounters(): MutableCounters {
  return { connections: 0, active: 0, bytesIn: 0, bytesOut: 0, dialFailures: 0, failures: 0 };
}
