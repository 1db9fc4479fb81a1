import type { TrafficPolicy } from '../../api/index.ts';
import { acceptStream, EAGAIN, listenStream, resetStream } from '../../kernel/sockets/index.ts';
import type { Family, Ip } from '../../net/index.ts';
import type { StepOutcome } from './backlog-reader.ts';
import type { Balancer } from './balancer.ts';
import { clientKey } from './client-address.ts';
import { ListeningSocket } from './listening-socket.ts';
import type { MutableCounters } from './relay-counters.ts';
import type { RelayResources } from './relay-resources.ts';
import { TcpConnection } from './tcp-connection.ts';

export interface ListenerOptions {
  readonly resources: RelayResources;
  readonly family: Family;
  readonly ip: Ip;
  readonly policy: TrafficPolicy;
  readonly balancer: Balancer;
  readonly counters: MutableCounters;
  /** `namespace/name:port` of the service port, for reports. */
  readonly name: string;
}

const ACCEPTS_PER_TURN = 64;
/** One for the client and one for the endpoint. */
const DESCRIPTORS_PER_CONNECTION = 2;
/** ENOMEM, ENFILE, EMFILE, ENOBUFS. */
const OUT_OF_DESCRIPTORS = [-12, -23, -24, -105];

/** Listens at a proxy port of one service port, and proxies each connection. */
export class TcpListener {
  readonly #options: ListenerOptions;
  readonly #socket: ListeningSocket;
  readonly #peer = Buffer.alloc(28);
  /** The connections that this listener accepted and that are still open. */
  readonly #connections = new Set<TcpConnection>();

  constructor(options: ListenerOptions, port: number) {
    const { resources, family, ip } = options;
    const { namespace, stream } = resources.options;
    this.#options = options;
    const fd = listenStream(namespace, family, ip, port, stream);
    this.#socket = new ListeningSocket(resources, fd, { stepsPerTurn: ACCEPTS_PER_TURN, step: () => this.#accept() });
  }

  get port(): number {
    return this.#socket.port;
  }

  /** Accepts no more connections. Accepted connections go on. */
  close(): void {
    this.#socket.close();
  }

  /** Closes the accepted connections too. */
  closeAll(): void {
    this.close();
    for (const connection of [...this.#connections]) connection.end();
  }

  /** Endpoints left the plan. A connection to one of them goes on as long as that endpoint answers. */
  endpointsGone(): void {
    for (const connection of this.#connections) connection.endpointsGone();
  }

  #accept(): StepOutcome {
    const fd = acceptStream(this.#socket.fd, this.#peer);
    if (fd === -EAGAIN) return 'empty';
    if (OUT_OF_DESCRIPTORS.includes(fd)) return this.#refuseWithSpare();
    if (fd < 0) return 'failed';
    if (this.#options.resources.hasRoomFor(DESCRIPTORS_PER_CONNECTION)) this.#proxy(fd);
    else this.#refuse(fd);
    return 'taken';
  }

  #proxy(fd: number): void {
    const { resources, balancer, counters, family, policy, name: servicePort } = this.#options;
    const client = balancer.hasAffinity ? clientKey(family, this.#peer) : undefined;
    const hash = balancer.hash(family, this.#peer);
    resources.descriptors += DESCRIPTORS_PER_CONNECTION;
    let isConnected = false;
    const connection = new TcpConnection({ servicePort, resources, family, balancer, policy, client, hash }, fd, {
      connected: () => {
        counters.connections += 1;
        counters.active += 1;
        isConnected = true;
      },
      sentToEndpoint: bytes => {
        counters.bytesIn += bytes;
      },
      sentToClient: bytes => {
        counters.bytesOut += bytes;
      },
      attemptFailed: () => {
        counters.dialFailures += 1;
      },
      failed: reason => this.#reportFailure(reason),
      closed: ended => {
        resources.descriptors -= DESCRIPTORS_PER_CONNECTION;
        if (isConnected) counters.active -= 1;
        resources.connections.delete(ended);
        this.#connections.delete(ended);
      },
    });
    resources.connections.add(connection);
    this.#connections.add(connection);
    connection.start();
  }

  #refuse(fd: number): void {
    resetStream(fd);
    this.#reportFailure(this.#options.resources.noRoomReason);
  }

  /**
   * The process has no descriptor left. The kernel returns that error even if no client waits. With the spare
   * descriptor this finds out, and refuses a client that would wait in vain.
   */
  #refuseWithSpare(): StepOutcome {
    const { spare } = this.#options.resources;
    spare.replace();
    const fd = spare.lend(() => {
      const accepted = acceptStream(this.#socket.fd, this.#peer);
      if (accepted >= 0) resetStream(accepted);
      return accepted;
    });
    if (fd === -EAGAIN) return 'empty';
    if (OUT_OF_DESCRIPTORS.includes(fd)) return 'later';
    if (fd < 0) return 'failed';
    this.#reportFailure('no descriptor is left for a connection; raise the limit of open files');
    return 'taken';
  }

  #reportFailure(reason: string): void {
    const { counters, name, resources } = this.#options;
    counters.failures += 1;
    resources.options.reporter.report(`proxy a connection to ${name}`, new Error(reason));
  }
}
