import type { NetworkNamespace } from '../../kernel/netns.ts';
import { DatagramExchange, type EventPoll, type StreamOptions } from '../../kernel/sockets/index.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Family } from '../../net/index.ts';
import type { FailureReporter } from './failure-reporter.ts';
import { SpareDescriptor } from './spare-descriptor.ts';
import type { TcpConnection } from './tcp-connection.ts';
import { UdpClients } from './udp-clients.ts';

/** How many bytes a relay reads at once. */
const CHUNK_BYTES = 128 << 10;
/** While more bytes than this wait for slow readers, relays read less at once. */
const MANY_HELD_BYTES = 64 << 20;
const SMALL_CHUNK_BYTES = 4 << 10;

export interface RelayResourcesOptions {
  readonly namespace: NetworkNamespace | undefined;
  readonly poll: EventPoll;
  readonly clock: Clock;
  readonly reporter: Pick<FailureReporter, 'report'>;
  readonly stream: StreamOptions;
  readonly udpIdleTimeoutMs: number;
  /** How many descriptors the mode may use. It refuses connections beyond that. */
  readonly maxDescriptors: number;
  readonly maxUdpClients: number;
}

/** What all listeners and connections of a mode share: one buffer, and the limits of descriptors and UDP clients. */
export class RelayResources {
  readonly options: RelayResourcesOptions;
  readonly #buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  readonly #smallBuffer = this.#buffer.subarray(0, SMALL_CHUNK_BYTES);
  readonly #exchanges = new Map<Family, DatagramExchange>();
  /** All TCP connections. They outlive their listener and their Service. */
  readonly connections = new Set<TcpConnection>();
  readonly spare = new SpareDescriptor();
  readonly udpClients: UdpClients;
  /** Bytes that relays have read and that the other end has not taken yet. */
  heldBytes = 0;
  /** How many descriptors connections, listeners and reservations use. */
  descriptors = 0;

  constructor(options: RelayResourcesOptions) {
    this.options = options;
    this.udpClients = new UdpClients(options);
  }

  /** Where a relay reads to. All relays use it, so a relay must copy what it cannot send at once. */
  get buffer(): Buffer {
    return this.heldBytes > MANY_HELD_BYTES ? this.#smallBuffer : this.#buffer;
  }

  exchange(family: Family): DatagramExchange {
    const known = this.#exchanges.get(family);
    if (known) return known;
    const exchange = new DatagramExchange(family);
    this.#exchanges.set(family, exchange);
    return exchange;
  }

  hasRoomFor(descriptors: number): boolean {
    return this.descriptors + descriptors <= this.options.maxDescriptors;
  }

  /** Why there is no room, and what the operator can do. */
  get noRoomReason(): string {
    return `all ${this.options.maxDescriptors} descriptors for proxying are in use; raise the limit of open files`;
  }

  get hasRoomForUdpClient(): boolean {
    return this.udpClients.size < this.options.maxUdpClients && this.hasRoomFor(1);
  }

  close(): void {
    this.udpClients.close();
    this.spare.close();
  }
}
