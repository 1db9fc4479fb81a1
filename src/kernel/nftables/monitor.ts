import { type Message, NetlinkMonitor, Protocol } from '../netlink/index.ts';
import type { NetworkNamespace } from '../netns.ts';
import { decodeEvent, type NftEvent } from './event.ts';
import { decodeGeneration, type Generation } from './generation.ts';
import { NftMessage, nftMessageOf } from './message.ts';

const NFNLGRP_NFTABLES = 7;

export interface NftablesMonitorHandlers {
  /** An object came or went. Which transaction it belongs to is said by the next `committed`. */
  changed(event: NftEvent): void;
  /**
   * A transaction ended. It is one's own if `NftablesSocket.commit` resolved to this generation, though the
   * notification may come before that does; the process is told too, but not reliably to a container (see Generation).
   */
  committed(generation: Generation): void;
  /** Notifications were lost: what is known must be read again. A very large transaction of one's own does this too. */
  overrun(): void;
  /** The socket failed and will say no more. */
  failed(error: Error): void;
}

/**
 * Tells of every change of nf_tables in a network namespace, whoever made it. While someone listens the kernel makes a
 * notification of each element that is committed, which takes it some 15 µs: a first load is better done before.
 */
export class NftablesMonitor {
  readonly #monitor: NetlinkMonitor;

  constructor(monitor: NetlinkMonitor) {
    this.#monitor = monitor;
  }

  static open(
    handlers: NftablesMonitorHandlers,
    { namespace }: { readonly namespace?: NetworkNamespace | undefined } = {},
  ): NftablesMonitor {
    const monitor = NetlinkMonitor.open(
      Protocol.NETFILTER,
      [NFNLGRP_NFTABLES],
      {
        message: message => dispatch(message, handlers),
        overrun: () => handlers.overrun(),
        failed: error => handlers.failed(error),
      },
      { namespace },
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
