import { asError } from '../../lib/error-text.ts';
import { KernelError } from '../errors.ts';
import type { Poll } from '../libc.ts';
import { type Message, readMessages } from './reader.ts';
import { openTransport, type Protocol, type Transport, type TransportOptions } from './transport.ts';

export interface MonitorHandlers {
  /** A notification; valid during the call only. */
  message(message: Message): void;
  /** Notifications were lost because they came faster than they were read: what is known must be read again. */
  overrun(): void;
  /** The socket failed, or one of these threw: it is closed and will say no more. */
  failed(error: Error): void;
}

/** Datagrams read before other work gets a turn. */
const DATAGRAMS_A_TURN = 256;

/** A netlink socket that listens to multicast groups. */
export class NetlinkMonitor {
  readonly #transport: Transport;
  readonly #handlers: MonitorHandlers;
  readonly #poll: Poll;
  #closed = false;

  constructor(transport: Transport, groups: readonly number[], handlers: MonitorHandlers) {
    this.#transport = transport;
    this.#handlers = handlers;
    for (const group of groups) transport.join(group);
    this.#poll = transport.poll(() => this.#drain());
  }

  static open(
    protocol: Protocol,
    groups: readonly number[],
    handlers: MonitorHandlers,
    options?: TransportOptions,
  ): NetlinkMonitor {
    const transport = openTransport(protocol, options);
    try {
      return new NetlinkMonitor(transport, groups, handlers);
    } catch (error) {
      transport.close();
      throw error;
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#poll.close();
    this.#transport.close();
  }

  #drain(): void {
    try {
      for (let taken = 0; taken < DATAGRAMS_A_TURN && !this.#closed; taken++) {
        if (!this.#takeOne()) return;
      }
    } catch (error) {
      this.close();
      this.#handlers.failed(asError(error));
    }
  }

  /** Says whether there was something to take. */
  #takeOne(): boolean {
    const datagram = this.#receive();
    if (datagram === 'overrun') this.#handlers.overrun();
    if (!(datagram instanceof Buffer)) return datagram !== undefined;
    for (const message of readMessages(datagram)) {
      if (!this.#closed) this.#handlers.message(message);
    }
    return true;
  }

  #receive(): Buffer | 'overrun' | undefined {
    try {
      return this.#transport.receive();
    } catch (error) {
      if (error instanceof KernelError && error.code === 'KERNEL_OVERRUN') return 'overrun';
      throw error;
    }
  }
}
