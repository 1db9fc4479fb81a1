import { type Message, NetlinkMonitor, Protocol, type TransportOptions } from '../netlink/index.ts';
import { decodeEvent, type NftEvent } from './event.ts';
import { decodeGeneration, type Generation } from './generation.ts';
import { NftMessage, nftMessageOf } from './message.ts';

const NFNLGRP_NFTABLES = 7;

export interface NftablesMonitorHandlers {
  /** An object was added or deleted. The next `committed` reports its transaction. */
  changed(event: NftEvent): void;
  /**
   * The kernel committed a transaction. It is this process's own if `NftablesSocket.commit` returned the same
   * generation. The notification may arrive before `commit` returns. The process in the generation is not reliable
   * inside a container (see Generation).
   */
  committed(generation: Generation): void;
  /**
   * The kernel dropped notifications, so the listener must list all objects again. A very large transaction of this
   * process can cause it too.
   */
  overrun(): void;
  /** The socket failed. The monitor reports nothing more. */
  failed(error: Error): void;
}

/**
 * Reports every change of nf_tables in a network namespace, whichever program made it. While a monitor is open, the
 * kernel makes a notification for each committed element, which takes about 15 µs. So commit the first large load
 * before you open a monitor.
 */
export class NftablesMonitor {
  readonly #monitor: NetlinkMonitor;

  constructor(monitor: NetlinkMonitor) {
    this.#monitor = monitor;
  }

  static open(handlers: NftablesMonitorHandlers, options?: TransportOptions): NftablesMonitor {
    const monitor = NetlinkMonitor.open(
      Protocol.NETFILTER,
      [NFNLGRP_NFTABLES],
      {
        message: message => dispatch(message, handlers),
        overrun: () => handlers.overrun(),
        failed: error => handlers.failed(error),
      },
      options,
    );
    return new NftablesMonitor(monitor);
  }

  close(): void {
    this.#monitor.close();
  }
}

function dispatch(message: Message, handlers: NftablesMonitorHandlers): void {
  if (nftMessageOf(message) === NftMessage.NEWGEN) {
    const generation = decodeGeneration(message);
    if (generation) handlers.committed(generation);
    return;
  }
  const event = decodeEvent(message);
  if (event) handlers.changed(event);
}
