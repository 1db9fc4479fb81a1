import { KernelError } from '../../../kernel/errors.ts';
import { bindDatagrams, closeRaw, connectDatagrams, EAGAIN, receive, transmit } from '../../../kernel/sockets/index.ts';
import type { Backend } from './balancer.ts';
import { clientKey } from './client-address.ts';
import type { Step } from './backlog-reader.ts';
import { ListeningSocket } from './listening-socket.ts';
import type { ListenerOptions } from './tcp-listener.ts';
import type { UdpClient } from './udp-clients.ts';

/** Datagrams that are taken before others get their turn. */
const DATAGRAMS_A_TURN = 128;

/** One client's datagrams, which go to one endpoint while they keep coming. */
interface Session extends UdpClient {
  readonly key: string;
  readonly backend: Backend;
  readonly fd: number;
  /** The client, as a sockaddr, and the address of ours that it asked. */
  readonly peer: Buffer;
  readonly own: Buffer;
  closed: boolean;
}

/** Takes datagrams at a proxy port for one service port, and passes them on, and answers back. */
export class UdpListener {
  readonly #options: ListenerOptions;
  readonly #socket: ListeningSocket;
  readonly #sessions = new Map<string, Session>();

  constructor(options: ListenerOptions, port: number) {
    const { traffic, family, ip } = options;
    this.#options = options;
    const fd = bindDatagrams(traffic.options.namespace, family, ip, port);
    this.#socket = new ListeningSocket(traffic, fd, DATAGRAMS_A_TURN, () => this.#receive());
  }

  get port(): number {
    return this.#socket.port;
  }

  get clients(): number {
    return this.#sessions.size;
  }

  /** Clients of endpoints that are gone get another with their next datagram. */
  endpointsGone(): void {
    for (const session of this.#sessions.values()) if (session.backend.gone) this.#end(session);
  }

  close(): void {
    for (const session of this.#sessions.values()) this.#end(session);
    this.#socket.close();
  }

  #receive(): Step {
    const { traffic, family } = this.#options;
    const length = traffic.exchange(family).receive(this.#socket.fd);
    if (length === -EAGAIN) return 'nothing';
    // Other errors are of datagrams sent before.
    if (length < 0) return 'failed';
    this.#forward(length);
    return 'taken';
  }

  #forward(length: number): void {
    const { traffic, family, counters } = this.#options;
    const { payload, peer, own } = traffic.exchange(family);
    // The port, the address and, of IPv6, the scope.
    const key = peer.toString('latin1', 2) + own.toString('latin1');
    const session = this.#sessions.get(key) ?? this.#open(key, peer, own);
    if (!session) {
      counters.failures += 1;
      return;
    }
    traffic.udpClients.use(session);
    counters.bytesIn += length;
    // What cannot be passed on now is lost, as datagrams are; of an endpoint that refuses, reading tells.
    transmit(session.fd, payload, length);
  }

  #open(key: string, peer: Buffer, own: Buffer): Session | undefined {
    const { traffic, family, policy, balancer, counters, name } = this.#options;
    const backend = balancer.pick(policy, balancer.hasAffinity ? clientKey(family, peer) : undefined);
    if (!backend) return undefined;
    if (!traffic.hasRoomForUdpClient) traffic.udpClients.endOldest();
    if (!traffic.hasRoomForUdpClient) return undefined;
    const fd = this.#connect(backend);
    if (fd === undefined) return undefined;
    const addresses = { peer: Buffer.from(peer), own: Buffer.from(own) };
    const end = () => this.#end(session);
    const session: Session = { key, backend, fd, ...addresses, lastUsed: 0, closed: false, end };
    traffic.descriptors += 1;
    backend.active += 1;
    counters.connections += 1;
    counters.active += 1;
    this.#sessions.set(key, session);
    try {
      traffic.options.poll.add(fd, () => this.#answer(session));
      return session;
    } catch (error) {
      traffic.options.trouble(`proxying datagrams to ${name}`, error);
      this.#end(session);
      return undefined;
    }
  }

  #connect(backend: Backend): number | undefined {
    const { traffic, family, name, counters } = this.#options;
    try {
      return connectDatagrams(traffic.options.namespace, family, backend.address);
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      counters.dialFailures += 1;
      traffic.options.trouble(`proxying datagrams to ${name}`, error);
      return undefined;
    }
  }

  #answer(session: Session): void {
    const { traffic, family, counters } = this.#options;
    const exchange = traffic.exchange(family);
    for (let i = 0; !session.closed; i++) {
      if (i === DATAGRAMS_A_TURN) {
        traffic.options.poll.defer(() => this.#answer(session));
        return;
      }
      const length = receive(session.fd, exchange.payload);
      if (length === -EAGAIN) return;
      if (length < 0) {
        this.#refused(session);
        return;
      }
      counters.bytesOut += length;
      traffic.udpClients.use(session);
      exchange.send(this.#socket.fd, length, session.peer, session.own);
    }
  }

  /** Nobody is there: the client's next datagram goes to another endpoint. */
  #refused(session: Session): void {
    this.#options.counters.dialFailures += 1;
    this.#options.balancer.eject(session.backend);
    this.#end(session);
  }

  #end(session: Session): void {
    if (session.closed) return;
    const { traffic, counters } = this.#options;
    session.closed = true;
    this.#sessions.delete(session.key);
    session.backend.active -= 1;
    counters.active -= 1;
    traffic.udpClients.delete(session);
    traffic.descriptors -= 1;
    traffic.options.poll.remove(session.fd);
    closeRaw(session.fd);
  }
}
