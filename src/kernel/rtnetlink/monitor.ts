import { type Message, NetlinkMonitor, Protocol, type TransportOptions } from '../netlink/index.ts';
import { type Address, AddressMessage, decodeAddress } from './address.ts';
import { decodeLink, type Link, LinkMessage } from './link.ts';

const Group = { LINK: 1, IPV4_IFADDR: 5, IPV6_IFADDR: 9 } as const;

/** A link or an address was added or changed (`new`), or deleted (`del`). */
export type RouteEvent =
  | { readonly kind: 'link'; readonly type: 'new' | 'del'; readonly link: Link }
  | { readonly kind: 'address'; readonly type: 'new' | 'del'; readonly address: Address };

export interface RouteHandlers {
  event(event: RouteEvent): void;
  /** The kernel dropped events. The listener must list links and addresses again. */
  overrun(): void;
  /** The socket failed. The monitor reports nothing more. */
  failed(error: Error): void;
}

/** Reports every change of links and addresses in a network namespace. */
export class RouteMonitor {
  readonly #monitor: NetlinkMonitor;

  private constructor(monitor: NetlinkMonitor) {
    this.#monitor = monitor;
  }

  static open(handlers: RouteHandlers, options?: TransportOptions): RouteMonitor {
    const listener = {
      message(message: Message): void {
        const event = decodeEvent(message);
        if (event) handlers.event(event);
      },
      overrun: () => handlers.overrun(),
      failed: (error: Error) => handlers.failed(error),
    };
    return new RouteMonitor(NetlinkMonitor.open(Protocol.ROUTE, Object.values(Group), listener, options));
  }

  close(): void {
    this.#monitor.close();
  }
}

export function decodeEvent({ type, body }: Pick<Message, 'type' | 'body'>): RouteEvent | undefined {
  switch (type) {
    case LinkMessage.NEW:
    case LinkMessage.DEL: {
      const link = decodeLink(body);
      return link && { kind: 'link', type: type === LinkMessage.NEW ? 'new' : 'del', link };
    }
    case AddressMessage.NEW:
    case AddressMessage.DEL: {
      const address = decodeAddress(body);
      return address && { kind: 'address', type: type === AddressMessage.NEW ? 'new' : 'del', address };
    }
    default:
      return undefined;
  }
}
