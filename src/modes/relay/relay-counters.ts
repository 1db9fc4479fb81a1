/** What went through a proxy of a service port. Bytes to endpoints are `in`, bytes from endpoints are `out`. */
export interface ProxyCounters {
  /** TCP connections, or UDP clients, that reached an endpoint. */
  readonly connections: number;
  /** TCP connections, or UDP clients, that are open now. */
  readonly active: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Failed attempts to reach an endpoint. A later attempt for the same connection may have succeeded. */
  readonly dialFailures: number;
  /** Connections, or datagrams, that reached no endpoint: no endpoint took them, or the proxy had no room. */
  readonly failures: number;
}

export type MutableCounters = { -readonly [name in keyof ProxyCounters]: number };

export function newCounters(): MutableCounters {
  return { connections: 0, active: 0, bytesIn: 0, bytesOut: 0, dialFailures: 0, failures: 0 };
}
