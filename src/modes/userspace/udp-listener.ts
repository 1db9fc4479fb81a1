import { KernelError } from '../../kernel/errors.ts';
import {
  bindDatagrams,
  closeRaw,
  connectDatagrams,
  EAGAIN,
  portOf,
  receive,
  transmit,
} from '../../kernel/sockets/index.ts';
import type { Timer } from '../../lib/clock.ts';
import type { Backend } from './balancer.ts';
import { clientKey } from './client-address.ts';
import type { ListenerOptions } from './tcp-listener.ts';

/** Datagrams that are taken before others get their turn. */
const DATAGRAMS_A_TURN = 128;
const MOST_ERRORS = 16;

/** One client's datagrams, which go to one endpoint while they keep coming. */
interface Session {
  readonly key: string;
  readonly backend: Backend;
  readonly fd: number;
  /** The client, as a sockaddr, and the address of ours that it asked. */
  readonly peer: Buffer;
  readonly own: Buffer;
  lastUsed: number;
  closed: boolean;
}

/** Takes datagrams at a proxy port for one service port, and passes them on, and answers back. */
export class UdpListener {
  readonly port: number;
  readonly #options: ListenerOptions;
  readonly #fd: number;
  /** In the order of their last use. */
  readonly #sessions = new Map<string, Session>();
  #sweep: Timer | undefined;
  #closed = false;

  constructor(options: ListenerOptions, port: number) {
    const { namespace, poll } = options.traffic.options;
    this.#options = options;
    this.#fd = bindDatagrams(namespace, options.family, options.ip, port);
    this.port = portOf(this.#fd);
    options.traffic.descriptors += 1;
    poll.add(this.#fd, () => this.#receive());
  }

  get clients(): number {
    return this.#sessions.size;
  }

  /** Clients of endpoints that are gone get another with their next datagram. */
  endpointsGone(): void {
    for (const session of this.#sessions.values()) if (session.backend.gone) this.#end(session);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#sweep?.cancel();
    for (const session of this.#sessions.values()) this.#end(session);
    this.#options.traffic.options.poll.remove(this.#fd);
    this.#options.traffic.descriptors -= 1;
    closeRaw(this.#fd);
  }

  #receive(): void {
    const { traffic, family } = this.#options;
    const exchange = traffic.exchange(family);
    let errors = 0;
    for (let i = 0; !this.#closed; i++) {
      if (i === DATAGRAMS_A_TURN) {
        traffic.options.poll.defer(() => this.#receive());
        return;
      }
      const length = exchange.receive(this.#fd);
      if (length === -EAGAIN) return;
      // Other errors are of datagrams sent before, and there may be more to receive; but not without end.
      if (length >= 0) this.#forward(length);
      else if (++errors > MOST_ERRORS) return;
    }
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
    this.#use(session);
    counters.bytesIn += length;
    // What cannot be passed on now is lost, as datagrams are; of an endpoint that refuses, reading tells.
    transmit(session.fd, payload, length);
  }

  #open(key: string, peer: Buffer, own: Buffer): Session | undefined {
    const { traffic, family, policy, balancer, counters, name } = this.#options;
    const backend = balancer.pick(policy, balancer.hasAffinity ? clientKey(family, peer) : undefined);
    if (!backend) return undefined;
    if (traffic.udpClients >= traffic.options.maxUdpClients || !traffic.hasRoomFor(1)) this.#endOldest();
    if (traffic.udpClients >= traffic.options.maxUdpClients || !traffic.hasRoomFor(1)) return undefined;
    const fd = this.#connect(backend);
    if (fd === undefined) return undefined;
    const addresses = { peer: Buffer.from(peer), own: Buffer.from(own) };
    const session = { key, backend, fd, ...addresses, lastUsed: 0, closed: false };
    traffic.udpClients += 1;
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
      this.#use(session);
      exchange.send(this.#fd, length, session.peer, session.own);
    }
  }

  /** Nobody is there: the client's next datagram goes to another endpoint. */
  #refused(session: Session): void {
    this.#options.counters.dialFailures += 1;
    this.#options.balancer.eject(session.backend);
    this.#end(session);
  }

  #use(session: Session): void {
    const { clock, udpIdleTimeoutMs } = this.#options.traffic.options;
    session.lastUsed = clock.elapsed();
    this.#sessions.delete(session.key);
    this.#sessions.set(session.key, session);
    this.#sweep ??= this.#sweepAfter(udpIdleTimeoutMs);
  }

  /** And after a turn of the poll: where this process was held up, datagrams may be there and not read yet. */
  #sweepAfter(milliseconds: number): Timer {
    const { clock, poll } = this.#options.traffic.options;
    return clock.setTimer(milliseconds, () => poll.defer(() => this.#endIdle()));
  }

  #endIdle(): void {
    const { clock, udpIdleTimeoutMs } = this.#options.traffic.options;
    this.#sweep = undefined;
    const now = clock.elapsed();
    for (const session of this.#sessions.values()) {
      const left = session.lastUsed + udpIdleTimeoutMs - now;
      if (left > 0) {
        this.#sweep = this.#sweepAfter(left);
        return;
      }
      this.#end(session);
    }
  }

  #endOldest(): void {
    for (const session of this.#sessions.values()) {
      this.#end(session);
      return;
    }
  }

  #end(session: Session): void {
    if (session.closed) return;
    const { traffic, counters } = this.#options;
    session.closed = true;
    this.#sessions.delete(session.key);
    session.backend.active -= 1;
    counters.active -= 1;
    traffic.udpClients -= 1;
    traffic.descriptors -= 1;
    traffic.options.poll.remove(session.fd);
    closeRaw(session.fd);
  }
}
