import type { EventPoll } from '../../kernel/sockets/index.ts';
import type { Clock, Timer } from '../../lib/clock.ts';

/** A UDP client that has an endpoint. */
export interface UdpClient {
  lastUsed: number;
  /** Ends the client. Must also call `delete`. */
  end(): void;
}

export interface UdpClientsOptions {
  readonly poll: Pick<EventPoll, 'defer'>;
  readonly clock: Clock;
  readonly udpIdleTimeoutMs: number;
}

/** The UDP clients of all Services. Ends those that are silent for the idle timeout. */
export class UdpClients {
  readonly #options: UdpClientsOptions;
  /** In the order of last use. */
  readonly #clients = new Set<UdpClient>();
  #sweep: Timer | undefined;

  constructor(options: UdpClientsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Notes a datagram from or to a client. The client may be new. */
  use(client: UdpClient): void {
    const { clock, udpIdleTimeoutMs } = this.#options;
    client.lastUsed = clock.elapsed();
    this.#clients.delete(client);
    this.#clients.add(client);
    this.#sweep ??= this.#sweepAfter(udpIdleTimeoutMs);
  }

  delete(client: UdpClient): void {
    this.#clients.delete(client);
  }

  /**
   * Ends the oldest client of any Service, so that a Service with many clients does not keep others from having one.
   */
  endOldest(): void {
    const [oldest] = this.#clients;
    oldest?.end();
  }

  close(): void {
    this.#sweep?.cancel();
  }

  /** Deferred: if this process was held up, there may be datagrams that were not handled yet. */
  #sweepAfter(milliseconds: number): Timer {
    const { clock, poll } = this.#options;
    return clock.setTimer(milliseconds, () => poll.defer(() => this.#endIdle()));
  }

  #endIdle(): void {
    const { clock, udpIdleTimeoutMs } = this.#options;
    this.#sweep = undefined;
    const now = clock.elapsed();
    for (const client of this.#clients) {
      const left = client.lastUsed + udpIdleTimeoutMs - now;
      if (left > 0) {
        this.#sweep = this.#sweepAfter(left);
        return;
      }
      client.end();
    }
  }
}
