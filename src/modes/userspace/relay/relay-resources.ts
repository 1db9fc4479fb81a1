import type { NetworkNamespace } from '../../../kernel/netns.ts';
import { DatagramExchange, type EventPoll, type StreamOptions } from '../../../kernel/sockets/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Family } from '../../../net/index.ts';
import { SpareDescriptor } from './spare-descriptor.ts';
import type { TcpConnection } from './tcp-connection.ts';
import { UdpClients } from './udp-clients.ts';

/** The size of one piece of what is copied. */
const CHUNK = 128 << 10;
/** Beyond so many bytes that wait for slow readers, smaller pieces are read. */
const MUCH_HELD = 64 << 20;
const SMALL_CHUNK = 4 << 10;

export interface TrafficOptions {
  readonly namespace: NetworkNamespace | undefined;
  readonly poll: EventPoll;
  readonly clock: Clock;
  readonly stream: StreamOptions;
  readonly udpIdleTimeoutMs: number;
  /** How many descriptors the mode may have in all; connections beyond that are refused. */
  readonly maxDescriptors: number;
  /** How many clients of UDP there may be in all. */
  readonly maxUdpClients: number;
  /** Called for what an operator should know; not for each of many. */
  readonly trouble: (what: string, error: unknown) => void;
}

/** What all proxies of a mode share. */
export class Traffic {
  readonly options: TrafficOptions;
  readonly #buffer = Buffer.allocUnsafeSlow(CHUNK);
  readonly #small = this.#buffer.subarray(0, SMALL_CHUNK);
  readonly #exchanges = new Map<Family, DatagramExchange>();
  /** Those of TCP. They outlive their listener and their Service. */
  readonly connections = new Set<TcpConnection>();
  /** For the moment when there is no other. */
  readonly spare = new SpareDescriptor();
  /** Bytes that were read and not yet taken by the other end. */
  held = 0;
  /** Of connections, listeners and claims. */
  descriptors = 0;
  readonly udpClients: UdpClients;

  constructor(options: TrafficOptions) {
    this.options = options;
    this.udpClients = new UdpClients(options);
  }

  /** Where the next piece is read to. Whoever does not get rid of it at once copies it. */
  get buffer(): Buffer {
    return this.held > MUCH_HELD ? this.#small : this.#buffer;
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

  get hasRoomForUdpClient(): boolean {
    return this.udpClients.size < this.options.maxUdpClients && this.hasRoomFor(1);
  }

  close(): void {
    this.udpClients.close();
    this.spare.close();
  }
}
