import { asError } from '../../lib/error-text.ts';
import { KernelError } from '../errors.ts';
import type { Poll } from '../libc.ts';
import { type Message, readMessages } from './reader.ts';
import { openTransport, type Protocol, type Transport, type TransportOptions } from './transport.ts';

export interface MonitorHandlers {
  /** Handles a notification, which is valid during the call only. */
  message(message: Message): void;
  /**
   * The kernel dropped notifications because they were not read fast enough. The listener must read all state again.
   * The kernel reports everything that happens from now on.
   */
  overrun(): void;
  /** The socket failed, or a handler threw. The monitor has closed itself and reports nothing more. */
  failed(error: Error): void;
}

/** How many datagrams the monitor reads before it lets other work run. */
const DATAGRAMS_PER_TURN = 256;

/** A netlink socket that listens to multicast groups. */
export class NetlinkMonitor {
  readonly #transport: Transport;
  readonly #handlers: MonitorHandlers;
  readonly #poll: Poll;
  #closed = false;
  /** Until the queue of notifications is empty, the kernel drops all further ones and does not report that again. */
  #isDropping = false;

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
      for (let handled = 0; handled < DATAGRAMS_PER_TURN && !this.#closed; handled++) {
        if (!this.#handleOne()) return;
      }
    } catch (error) {
      this.close();
      this.#handlers.failed(asError(error));
    }
  }

  /** Returns false if nothing was waiting. */
  #handleOne(): boolean {
    const datagram = this.#receive();
    if (datagram === 'overrun') this.#isDropping = true;
    if (datagram === undefined) this.#reportOverrun();
    if (!(datagram instanceof Buffer)) return datagram !== undefined;
    for (const message of readMessages(datagram)) {
      if (!this.#closed) this.#handlers.message(message);
    }
    return true;
  }

  #reportOverrun(): void {
    if (!this.#isDropping) return;
    this.#isDropping = false;
    this.#handlers.overrun();
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
