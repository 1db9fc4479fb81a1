import { NetlinkMonitor, Protocol, type TransportOptions } from '../netlink/index.ts';
import { decodeTrace, type TraceMessage } from './trace-message.ts';

const NFNLGRP_NFTRACE = 9;

export interface TraceMonitorHandlers {
  /** One step of a packet that some rule marked with `meta nftrace set 1`, whichever program added the rule. */
  traced(message: TraceMessage): void;
  /** The kernel dropped messages because they were not read fast enough. */
  overrun(): void;
  /** The socket failed. The monitor reports nothing more. */
  failed(error: Error): void;
}

/** Reports the way of every traced packet in a network namespace. */
export class TraceMonitor {
  readonly #monitor: NetlinkMonitor;

  private constructor(monitor: NetlinkMonitor) {
    this.#monitor = monitor;
  }

  static open(handlers: TraceMonitorHandlers, options?: TransportOptions): TraceMonitor {
    const monitor = NetlinkMonitor.open(
      Protocol.NETFILTER,
      [NFNLGRP_NFTRACE],
      {
        message: message => {
          const trace = decodeTrace(message);
          if (trace) handlers.traced(trace);
        },
        overrun: () => handlers.overrun(),
        failed: error => handlers.failed(error),
      },
      options,
    );
    return new TraceMonitor(monitor);
  }

  close(): void {
    this.#monitor.close();
  }
}
