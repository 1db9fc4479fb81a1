import type { NetworkNamespace } from '../kernel/netns.ts';
import { type RouteEvent, RouteMonitor, RouteSocket } from '../kernel/rtnetlink/index.ts';
import type { Ip } from '../net/index.ts';

export interface NodeAddressesOptions {
  /** A link whose addresses do not count, for a mode gives them to it. */
  readonly exceptLink?: string | undefined;
  /** Something happened to that link. */
  exceptLinkChanged?(event: RouteEvent): void;
}

/** This machine's addresses, kept up to date by the kernel's notifications, which say which one came or went. */
export class NodeAddresses {
  readonly #socket: RouteSocket;
  readonly #monitor: RouteMonitor;
  readonly #options: NodeAddressesOptions;
  /** The index of the link that does not count. */
  #except: number | undefined;

  constructor(
    namespace: NetworkNamespace | undefined,
    changed: (ip?: Ip) => void,
    failed: (error: Error) => void,
    options: NodeAddressesOptions = {},
  ) {
    this.#options = options;
    this.#socket = RouteSocket.open({ namespace });
    this.#monitor = RouteMonitor.open(
      {
        event: event => {
          if (this.#isExcept(event)) options.exceptLinkChanged?.(event);
          else if (event.kind === 'address') changed(event.address.ip);
        },
        overrun: () => changed(),
        failed,
      },
      { namespace },
    );
    if (options.exceptLink !== undefined) this.#except = this.#socket.link(options.exceptLink)?.index;
  }

  list(): readonly Ip[] {
    const addresses = this.#socket.addresses({});
    const except = this.#options.exceptLink && this.#socket.link(this.#options.exceptLink)?.index;
    return addresses.filter(({ index }) => index !== except).map(({ ip }) => ip);
  }

  close(): void {
    this.#monitor.close();
    this.#socket.close();
  }

  #isExcept(event: RouteEvent): boolean {
    if (event.kind === 'address') return event.address.index === this.#except;
    if (event.link.name !== this.#options.exceptLink) return false;
    this.#except = event.link.index;
    return true;
  }
}
