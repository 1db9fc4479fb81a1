import { ipBytes, parseIp } from '../../net/index.ts';

/** Probers and scrapers of one node need far fewer. */
const MAX_CONNECTIONS = 1000;
/** Owners of an IPv6 network can use all of its addresses. */
const IPV6_NETWORK_BYTES = 8;

export interface Closable {
  /** A request of this connection runs. Otherwise the connection waits for its peer. */
  readonly isBusy: boolean;
  destroy(): void;
}

/**
 * Limits the number of connections, and always has a place for a new one. When all places are taken, the peer with the
 * most connections loses the one whose last answer is the oldest. So a peer may have many connections, as a NAT gateway
 * with many probers behind it does, but not at the cost of a peer with fewer.
 */
export class ConnectionTable {
  readonly #limit: number;
  /** The connections of each peer, the one whose last answer is the oldest first. The value is the age of that answer. */
  readonly #peers = new Map<string, Map<Closable, number>>();
  #count = 0;
  #age = 0;

  constructor(limit = MAX_CONNECTIONS) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#count;
  }

  /** Adds a new connection. If the table is full, closes another one first. */
  add(connection: Closable, address: string | undefined): ConnectionPlace {
    if (this.#count >= this.#limit) this.#closeOne();
    const peer = peerOf(address ?? '');
    const connections = this.#peers.get(peer) ?? new Map<Closable, number>();
    this.#peers.set(peer, connections);
    connections.set(connection, ++this.#age);
    this.#count++;
    return {
      answered: () => {
        if (connections.delete(connection)) connections.set(connection, ++this.#age);
      },
      free: () => this.#remove(peer, connection),
    };
  }

  #closeOne(): void {
    const [peer, connections] = this.#largest();
    const victim = firstIdle(connections) ?? oldestOf(connections);
    if (!victim) return;
    // The connection frees its place only later, when it is closed.
    this.#remove(peer, victim);
    victim.destroy();
  }

  /** The peer with the most connections. Among equals, the one whose oldest connection is the oldest. */
  #largest(): readonly [string, ReadonlyMap<Closable, number>] {
    let largest: readonly [string, ReadonlyMap<Closable, number>] = ['', new Map()];
    for (const entry of this.#peers) {
      const difference = entry[1].size - largest[1].size;
      if (difference > 0 || (difference === 0 && oldestAge(entry[1]) < oldestAge(largest[1]))) largest = entry;
    }
    return largest;
  }

  #remove(peer: string, connection: Closable): void {
    const connections = this.#peers.get(peer);
    if (!connections?.delete(connection)) return;
    this.#count--;
    if (connections.size === 0) this.#peers.delete(peer);
  }
}

/** The place of one connection in the table. */
export interface ConnectionPlace {
  /** The connection answered a request, so it is the last one of its peer to be closed. */
  answered(): void;
  free(): void;
}

/** All servers of the process share the places, because they share its memory and its file descriptors. */
export const processConnections = new ConnectionTable();

function firstIdle(connections: ReadonlyMap<Closable, number>): Closable | undefined {
  for (const connection of connections.keys()) if (!connection.isBusy) return connection;
  return undefined;
}

function oldestOf(connections: ReadonlyMap<Closable, number>): Closable | undefined {
  const [oldest] = connections.keys();
  return oldest;
}

function oldestAge(connections: ReadonlyMap<Closable, number>): number {
  const [age = 0] = connections.values();
  return age;
}

/** An IPv4 address, or the network of an IPv6 address. Empty if it is no address. */
export function peerOf(address: string): string {
  const ip = parseIp(address.replace(/%.*$/, ''));
  if (ip === undefined) return '';
  const bytes = ipBytes(ip);
  return bytes.length === 4 ? ip : bytes.toString('hex', 0, IPV6_NETWORK_BYTES);
}
