import type { TrafficPolicy } from '../../api/index.ts';
import { acceptStream, closeRaw, EAGAIN, listenStream, portOf, resetStream } from '../../kernel/sockets/index.ts';
import type { Timer } from '../../lib/clock.ts';
import type { Family, Ip } from '../../net/index.ts';
import type { Balancer } from './balancer.ts';
import { clientKey } from './client-address.ts';
import type { MutableCounters } from './counters.ts';
import { TcpConnection } from './tcp-connection.ts';
import type { Traffic } from './traffic.ts';

export interface ListenerOptions {
  readonly traffic: Traffic;
  readonly family: Family;
  readonly ip: Ip;
  readonly policy: TrafficPolicy;
  readonly balancer: Balancer;
  readonly counters: MutableCounters;
  /** `ns/name:port` */
  readonly name: string;
}

/** Connections that are accepted before others get their turn. */
const ACCEPTS_A_TURN = 64;
const MOST_ERRORS = 16;
/** Each takes two: the client's and the endpoint's. */
const DESCRIPTORS_A_CONNECTION = 2;
const RETRY_MS = 100;
/** ENOMEM, ENFILE, EMFILE, ENOBUFS. */
const OUT_OF_DESCRIPTORS = [-12, -23, -24, -105];

/** Listens at a proxy port for one service port, and proxies each connection. */
export class TcpListener {
  readonly port: number;
  readonly #options: ListenerOptions;
  readonly #fd: number;
  readonly #peer = Buffer.alloc(28);
  #retry: Timer | undefined;
  #closed = false;

  constructor(options: ListenerOptions, port: number) {
    const { namespace, poll, stream } = options.traffic.options;
    this.#options = options;
    this.#fd = listenStream(namespace, options.family, options.ip, port, stream);
    this.port = portOf(this.#fd);
    options.traffic.descriptors += 1;
    poll.add(this.#fd, () => this.#accept());
  }

  /** Takes no more connections; those that it took go on. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#retry?.cancel();
    this.#options.traffic.options.poll.remove(this.#fd);
    this.#options.traffic.descriptors -= 1;
    closeRaw(this.#fd);
  }

  #accept(): void {
    const { traffic } = this.#options;
    let errors = 0;
    for (let i = 0; !this.#closed; i++) {
      if (i === ACCEPTS_A_TURN) {
        traffic.options.poll.defer(() => this.#accept());
        return;
      }
      const fd = acceptStream(this.#fd, this.#peer);
      if (fd === -EAGAIN) return;
      if (OUT_OF_DESCRIPTORS.includes(fd)) {
        if (!this.#refuseOne()) return;
      } else if (fd < 0) {
        // An error of a connection that is not to be. The next may be all right; but not without end.
        if (++errors > MOST_ERRORS) return;
      } else if (traffic.hasRoomFor(DESCRIPTORS_A_CONNECTION)) this.#take(fd);
      else this.#refuse(fd);
    }
  }

  #take(fd: number): void {
    const { traffic, balancer, counters, family, policy } = this.#options;
    const client = balancer.hasAffinity ? clientKey(family, this.#peer) : undefined;
    traffic.descriptors += DESCRIPTORS_A_CONNECTION;
    let isConnected = false;
    const connection = new TcpConnection({ traffic, family, balancer, policy, client }, fd, {
      connected: () => {
        counters.connections += 1;
        counters.active += 1;
        isConnected = true;
      },
      forward: bytes => {
        counters.bytesIn += bytes;
      },
      backward: bytes => {
        counters.bytesOut += bytes;
      },
      failedOnce: () => {
        counters.dialFailures += 1;
      },
      failed: reason => this.#failed(reason),
      closed: ended => {
        traffic.descriptors -= DESCRIPTORS_A_CONNECTION;
        if (isConnected) counters.active -= 1;
        traffic.connections.delete(ended);
      },
    });
    traffic.connections.add(connection);
    connection.start();
  }

  #refuse(fd: number): void {
    resetStream(fd);
    const { maxDescriptors } = this.#options.traffic.options;
    this.#failed(`all ${maxDescriptors} descriptors for proxying are in use; raise the limit of open files`);
  }

  /** Out of descriptors: the spare one is used to take the connection and refuse it, or the client would wait in vain. */
  #refuseOne(): boolean {
    const { spare, options } = this.#options.traffic;
    this.#failed('no descriptor is left for a connection; raise the limit of open files');
    spare.lend(() => {
      const fd = acceptStream(this.#fd, this.#peer);
      if (fd >= 0) resetStream(fd);
    });
    if (spare.isThere) return true;
    this.#retry ??= options.clock.setTimer(RETRY_MS, () => {
      this.#retry = undefined;
      spare.replace();
      this.#accept();
    });
    return false;
  }

  #failed(reason: string): void {
    const { counters, name, traffic } = this.#options;
    counters.failures += 1;
    traffic.options.trouble(`proxying a connection to ${name}`, new Error(reason));
  }
}
