import { KernelError } from '../../kernel/errors.ts';
import { bindDatagrams, closeRaw, connectDatagrams, EAGAIN, receive, transmit } from '../../kernel/sockets/index.ts';
import type { Backend } from './backend.ts';
import type { StepOutcome } from './backlog-reader.ts';
import { clientKey } from './client-address.ts';
import { ListeningSocket } from './listening-socket.ts';
import type { ListenerOptions } from './tcp-listener.ts';
import type { UdpClient } from './udp-clients.ts';

const DATAGRAMS_PER_TURN = 128;

/** A client whose datagrams go to one endpoint as long as they keep coming. */
interface Session extends UdpClient {
  readonly key: string;
  readonly backend: Backend;
  readonly fd: number;
  /** The client's address, as a sockaddr. */
  readonly peer: Buffer;
  /** The address of this machine to which the client sends. Answers come from there. */
  readonly own: Buffer;
  closed: boolean;
}

/** Receives datagrams at a proxy port of one service port, sends them to endpoints, and returns the answers. */
export class UdpListener {
  readonly #options: ListenerOptions;
  readonly #socket: ListeningSocket;
  readonly #sessions = new Map<string, Session>();

  constructor(options: ListenerOptions, port: number) {
    const { resources, family, ip } = options;
    this.#options = options;
    const fd = bindDatagrams(resources.options.namespace, family, ip, port);
    this.#socket = new ListeningSocket(resources, fd, {
      stepsPerTurn: DATAGRAMS_PER_TURN,
      step: () => this.#receive(),
    });
  }

  get port(): number {
    return this.#socket.port;
  }

  /** Endpoints left the plan. Their clients get another endpoint with their next datagram. */
  endpointsGone(): void {
    for (const session of this.#sessions.values()) if (session.backend.isGone) this.#end(session);
  }

  close(): void {
    for (const session of this.#sessions.values()) this.#end(session);
    this.#socket.close();
  }

  #receive(): StepOutcome {
    const { resources, family } = this.#options;
    const length = resources.exchange(family).receive(this.#socket.fd);
    if (length === -EAGAIN) return 'empty';
    // The kernel reports errors of answers that were sent before.
    if (length < 0) return 'failed';
    this.#forward(length);
    return 'taken';
  }

  #forward(length: number): void {
    const { resources, family, counters } = this.#options;
    const { payload, peer, own } = resources.exchange(family);
    // The port, the address and, for IPv6, the scope.
    const key = peer.toString('latin1', 2) + own.toString('latin1');
    const session = this.#sessions.get(key) ?? this.#open(key, peer, own);
    if (!session) {
      counters.failures += 1;
      return;
    }
    resources.udpClients.use(session);
    counters.bytesIn += length;
    session.backend.bytes += length;
    // A datagram that the kernel does not take now is lost, as datagrams may be. A read returns an endpoint's refusal.
    transmit(session.fd, payload, length);
  }

  #open(key: string, peer: Buffer, own: Buffer): Session | undefined {
    const { resources, family, policy, balancer, counters } = this.#options;
    const client = balancer.hasAffinity ? clientKey(family, peer) : undefined;
    const backend = balancer.pick(policy, client, undefined, balancer.hash(family, peer));
    if (!backend) return undefined;
    if (!resources.hasRoomForUdpClient) resources.udpClients.endOldest();
    if (!resources.hasRoomForUdpClient) return undefined;
    const fd = this.#connect(backend);
    if (fd === undefined) return undefined;
    const addresses = { peer: Buffer.from(peer), own: Buffer.from(own) };
    const end = () => this.#end(session);
    const session: Session = { key, backend, fd, ...addresses, lastUsed: 0, closed: false, end };
    resources.descriptors += 1;
    backend.active += 1;
    backend.connections += 1;
    counters.connections += 1;
    counters.active += 1;
    this.#sessions.set(key, session);
    try {
      resources.options.poll.add(fd, () => this.#returnAnswers(session));
      return session;
    } catch (error) {
      this.#reportFailure(error);
      this.#end(session);
      return undefined;
    }
  }

  #connect(backend: Backend): number | undefined {
    const { resources, family, counters } = this.#options;
    try {
      return connectDatagrams(resources.options.namespace, family, backend.address);
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      counters.dialFailures += 1;
      this.#reportFailure(error);
      return undefined;
    }
  }

  #returnAnswers(session: Session): void {
    const { resources, family, counters } = this.#options;
    const exchange = resources.exchange(family);
    for (let i = 0; !session.closed; i++) {
      if (i === DATAGRAMS_PER_TURN) {
        resources.options.poll.defer(() => this.#returnAnswers(session));
        return;
      }
      const length = receive(session.fd, exchange.payload);
      if (length === -EAGAIN) return;
      if (length < 0) {
        this.#endRefused(session);
        return;
      }
      counters.bytesOut += length;
      session.backend.bytes += length;
      resources.udpClients.use(session);
      exchange.send(this.#socket.fd, length, session.peer, session.own);
    }
  }

  /** The endpoint refused a datagram. The client's next datagram goes to another endpoint. */
  #endRefused(session: Session): void {
    this.#options.counters.dialFailures += 1;
    this.#options.balancer.eject(session.backend);
    this.#end(session);
  }

  #end(session: Session): void {
    if (session.closed) return;
    const { resources, counters } = this.#options;
    session.closed = true;
    this.#sessions.delete(session.key);
    session.backend.active -= 1;
    counters.active -= 1;
    resources.udpClients.delete(session);
    resources.descriptors -= 1;
    resources.options.poll.remove(session.fd);
    closeRaw(session.fd);
  }

  #reportFailure(error: unknown): void {
    const { resources, name } = this.#options;
    resources.options.reporter.report(`proxy datagrams to ${name}`, error);
  }
}
