import type { TrafficPolicy } from '../../../api/index.ts';
import { acceptStream, EAGAIN, listenStream, resetStream } from '../../../kernel/sockets/index.ts';
import type { Family, Ip } from '../../../net/index.ts';
import type { Balancer } from './balancer.ts';
import { clientKey } from './client-address.ts';
import type { MutableCounters } from '../counters/service-counters.ts';
import type { Step } from './backlog-reader.ts';
import { ListeningSocket } from './listening-socket.ts';
import { TcpConnection } from './tcp-connection.ts';
import type { Traffic } from './relay-resources.ts';

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
/** Each takes two: the client's and the endpoint's. */
const DESCRIPTORS_A_CONNECTION = 2;
/** ENOMEM, ENFILE, EMFILE, ENOBUFS. */
const OUT_OF_DESCRIPTORS = [-12, -23, -24, -105];

/** Listens at a proxy port for one service port, and proxies each connection. */
export class TcpListener {
  readonly #options: ListenerOptions;
  readonly #socket: ListeningSocket;
  readonly #peer = Buffer.alloc(28);

  constructor(options: ListenerOptions, port: number) {
    const { traffic, family, ip } = options;
    const { namespace, stream } = traffic.options;
    this.#options = options;
    const fd = listenStream(namespace, family, ip, port, stream);
    this.#socket = new ListeningSocket(traffic, fd, ACCEPTS_A_TURN, () => this.#accept());
  }

  get port(): number {
    return this.#socket.port;
  }

  /** Takes no more connections; those that it took go on. */
  close(): void {
    this.#socket.close();
  }

  #accept(): Step {
    const fd = acceptStream(this.#socket.fd, this.#peer);
    if (fd === -EAGAIN) return 'nothing';
    if (OUT_OF_DESCRIPTORS.includes(fd)) return this.#refuseOne();
    if (fd < 0) return 'failed';
    if (this.#options.traffic.hasRoomFor(DESCRIPTORS_A_CONNECTION)) this.#take(fd);
    else this.#refuse(fd);
    return 'taken';
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

  /**
   * Out of descriptors, which the kernel says also when nobody waits. With the spare one it is known, and who waits is
   * refused rather than left to wait in vain.
   */
  #refuseOne(): Step {
    const { spare } = this.#options.traffic;
    spare.replace();
    const fd = spare.lend(() => {
      const accepted = acceptStream(this.#socket.fd, this.#peer);
      if (accepted >= 0) resetStream(accepted);
      return accepted;
    });
    if (fd === -EAGAIN) return 'nothing';
    if (OUT_OF_DESCRIPTORS.includes(fd)) return 'later';
    if (fd < 0) return 'failed';
    this.#failed('no descriptor is left for a connection; raise the limit of open files');
    return 'taken';
  }

  #failed(reason: string): void {
    const { counters, name, traffic } = this.#options;
    counters.failures += 1;
    traffic.options.trouble(`proxying a connection to ${name}`, new Error(reason));
  }
}
