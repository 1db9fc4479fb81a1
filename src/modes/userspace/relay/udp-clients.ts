import type { EventPoll } from '../../../kernel/sockets/index.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';

/** A client of UDP, as far as it takes room. */
export interface UdpClient {
  lastUsed: number;
  /** Must also delete it here. */
  end(): void;
}

export interface UdpClientsOptions {
  readonly poll: Pick<EventPoll, 'defer'>;
  readonly clock: Clock;
  readonly udpIdleTimeoutMs: number;
}

/** The clients of UDP of all Services, in the order of their last use. Those that are silent for too long are ended. */
export class UdpClients {
  readonly #options: UdpClientsOptions;
  readonly #clients = new Set<UdpClient>();
  #sweep: Timer | undefined;

  constructor(options: UdpClientsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Notes that one, known or new, was heard of. */
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

  /** Whosever it is: a Service with many clients must not keep others from having any. */
  endOldest(): void {
    const [oldest] = this.#clients;
    oldest?.end();
  }

  close(): void {
    this.#sweep?.cancel();
  }

  /** And after a turn of the poll: where this process was held up, datagrams may be there and not read yet. */
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
