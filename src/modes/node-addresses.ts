import type { NetworkNamespace } from '../kernel/netns.ts';
import { RouteMonitor, RouteSocket } from '../kernel/rtnetlink/index.ts';
import type { Ip } from '../net/index.ts';

/** This machine's addresses, kept up to date by the kernel's notifications. */
export class NodeAddresses {
  readonly #socket: RouteSocket;
  readonly #monitor: RouteMonitor;

  constructor(namespace: NetworkNamespace | undefined, changed: () => void, failed: (error: Error) => void) {
    this.#socket = RouteSocket.open({ namespace });
    this.#monitor = RouteMonitor.open(
      {
        event: ({ kind }) => {
          if (kind === 'address') changed();
        },
        overrun: changed,
        failed,
      },
      { namespace },
    );
  }

  list(): readonly Ip[] {
    return [...this.#socket.addresses({})].map(({ ip }) => ip);
  }

  close(): void {
    this.#monitor.close();
    this.#socket.close();
  }
}
