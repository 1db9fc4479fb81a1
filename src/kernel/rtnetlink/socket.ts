import type { Ip } from '../../net/index.ts';
import { KernelError } from '../errors.ts';
import {
  Flag,
  isInterrupted,
  type Message,
  type MessageWriter,
  NetlinkSocket,
  Protocol,
  type Refusal,
  sendBulk,
  type TransportOptions,
} from '../netlink/index.ts';
import {
  type Address,
  type AddressFilter,
  AddressMessage,
  decodeAddress,
  encodeAddress,
  encodeGetAddresses,
  type NewAddress,
  printAddress,
  printGetAddresses,
} from './address.ts';
import {
  decodeLink,
  encodeDeleteLink,
  encodeGetLink,
  type Link,
  LinkMessage,
  type LinkRef,
  printDeleteLink,
  printGetLink,
} from './link.ts';
import { withNamespaceFd } from './namespace-fd.ts';
import { encodeNewLink, type NewLink, printNewLink } from './new-link.ts';
import {
  decodeRoute,
  encodeGetRoutes,
  encodeLookUpRoute,
  encodeRoute,
  type NewRoute,
  printGetRoutes,
  printLookUpRoute,
  printRoute,
  type Route,
  type RouteFilter,
  RouteMessage,
} from './route.ts';
import { encodeSetLink, type LinkChange, printSetLink } from './set-link.ts';

/** How often to read a list that changes while it is read. */
const ATTEMPTS = 5;
const NO_ROUTE: ReadonlySet<string> = new Set(['ENETUNREACH', 'EHOSTUNREACH', 'EINVAL', 'EACCES']);
const ADD = Flag.CREATE | Flag.EXCL;
const REPLACE = Flag.CREATE | Flag.REPLACE;

/** Links, addresses and routes of one network namespace. */
export class RouteSocket {
  readonly #netlink: NetlinkSocket;

  constructor(netlink: NetlinkSocket) {
    this.#netlink = netlink;
  }

  static open(options?: TransportOptions): RouteSocket {
    return new RouteSocket(NetlinkSocket.open(Protocol.ROUTE, options));
  }

  links(): readonly Link[] {
    return this.#list(printGetLink(), LinkMessage.GET, writer => encodeGetLink(writer), decodeLink);
  }

  /** The link with this name, or undefined if there is none. */
  link(name: string): Link | undefined {
    try {
      const messages = this.#netlink.request(printGetLink(name), LinkMessage.GET, 0, w => encodeGetLink(w, name));
      return messages.map(({ body }) => decodeLink(body)).find(link => link);
    } catch (error) {
      if (isErrno(error, 'ENODEV')) return undefined;
      throw error;
    }
  }

  /** Adds a link and returns it as the kernel lists it. */
  addLink(link: NewLink): Link {
    const operation = printNewLink(link);
    withNamespaceFd(link.kind === 'veth' ? link.peer.namespace : undefined, peer =>
      this.#netlink.request(operation, LinkMessage.NEW, ADD, writer => encodeNewLink(writer, link, peer)),
    );
    const added = this.link(link.name);
    if (!added) throw new KernelError('KERNEL_PROTOCOL', { operation, reason: 'the new link does not exist' });
    return added;
  }

  setLink(link: LinkRef, change: LinkChange): void {
    withNamespaceFd(change.namespace, namespace =>
      this.#netlink.request(printSetLink(link, change), LinkMessage.NEW, 0, writer =>
        encodeSetLink(writer, link, change, namespace),
      ),
    );
  }

  deleteLink(link: LinkRef): void {
    this.#netlink.request(printDeleteLink(link), LinkMessage.DEL, 0, writer => encodeDeleteLink(writer, link));
  }

  addresses(filter: AddressFilter = {}): readonly Address[] {
    const operation = printGetAddresses(filter);
    const found = this.#list(operation, AddressMessage.GET, w => encodeGetAddresses(w, filter), decodeAddress);
    return filter.link ? found.filter(address => address.index === filter.link?.index) : found;
  }

  /** The same as `addresses`, one at a time. Other work runs in between, so the socket must have no other user. */
  async *streamAddresses(filter: AddressFilter): AsyncGenerator<Address> {
    const write = (writer: MessageWriter) => encodeGetAddresses(writer, filter);
    for await (const { body } of this.#netlink.stream(printGetAddresses(filter), AddressMessage.GET, write)) {
      const address = decodeAddress(body);
      if (address && (!filter.link || address.index === filter.link.index)) yield address;
    }
  }

  addAddress(link: LinkRef, address: NewAddress): void {
    this.#netlink.request(printAddress('add', link, address), AddressMessage.NEW, ADD, writer =>
      encodeAddress(writer, 'add', link, address),
    );
  }

  replaceAddress(link: LinkRef, address: NewAddress): void {
    this.#netlink.request(printAddress('replace', link, address), AddressMessage.NEW, REPLACE, writer =>
      encodeAddress(writer, 'replace', link, address),
    );
  }

  deleteAddress(link: LinkRef, address: NewAddress): void {
    this.#netlink.request(printAddress('del', link, address), AddressMessage.DEL, 0, writer =>
      encodeAddress(writer, 'del', link, address),
    );
  }

  /** Adds addresses and returns those that the kernel refused. EEXIST means that the link already has the address. */
  addAddresses(link: LinkRef, addresses: readonly NewAddress[]): Promise<readonly Refusal<NewAddress>[]> {
    return sendBulk(this.#netlink, addresses, {
      type: AddressMessage.NEW,
      flags: ADD,
      write: (writer, address) => encodeAddress(writer, 'add', link, address),
      print: address => printAddress('add', link, address),
    });
  }

  /**
   * Deletes addresses and returns those that the kernel refused. EADDRNOTAVAIL means that the link lacks the address.
   */
  deleteAddresses(link: LinkRef, addresses: readonly NewAddress[]): Promise<readonly Refusal<NewAddress>[]> {
    return sendBulk(this.#netlink, addresses, {
      type: AddressMessage.DEL,
      flags: 0,
      write: (writer, address) => encodeAddress(writer, 'del', link, address),
      print: address => printAddress('del', link, address),
    });
  }

  routes(filter: RouteFilter): readonly Route[] {
    const operation = printGetRoutes(filter);
    try {
      return this.#list(operation, RouteMessage.GET, writer => encodeGetRoutes(writer, filter), decodeRoute);
    } catch (error) {
      // The kernel creates a table with its first route.
      if (isErrno(error, 'ENOENT')) return [];
      throw error;
    }
  }

  /**
   * The route that the kernel takes to the address. The errno if there is none: ENETUNREACH without a route,
   * EHOSTUNREACH, EINVAL and EACCES for an IPv4 route of the type unreachable, blackhole and prohibit. For IPv6 the
   * kernel returns such a route.
   */
  lookUpRoute(destination: Ip): Route | { readonly errno: string } {
    const operation = printLookUpRoute(destination);
    try {
      const messages = this.#netlink.request(operation, RouteMessage.GET, 0, w => encodeLookUpRoute(w, destination));
      const found = messages.map(({ body }) => decodeRoute(body)).find(route => route);
      if (!found) throw new KernelError('KERNEL_PROTOCOL', { operation, reason: 'the answer contains no route' });
      return found;
    } catch (error) {
      if (error instanceof KernelError && error.code === 'KERNEL_REFUSED' && NO_ROUTE.has(error.errno ?? ''))
        return { errno: error.errno ?? '' };
      throw error;
    }
  }

  addRoute(route: NewRoute): void {
    this.#netlink.request(printRoute('add', route), RouteMessage.NEW, ADD, w => encodeRoute(w, 'add', route));
  }

  replaceRoute(route: NewRoute): void {
    const write = (writer: MessageWriter) => encodeRoute(writer, 'replace', route);
    this.#netlink.request(printRoute('replace', route), RouteMessage.NEW, REPLACE, write);
  }

  deleteRoute(route: NewRoute): void {
    this.#netlink.request(printRoute('del', route), RouteMessage.DEL, 0, w => encodeRoute(w, 'del', route));
  }

  close(): void {
    this.#netlink.close();
  }

  #list<T>(
    operation: string,
    type: number,
    write: (writer: MessageWriter) => void,
    decode: (body: Buffer) => T | undefined,
  ): readonly T[] {
    for (let attempt = 1; ; attempt++) {
      try {
        return [...decodeAll(this.#netlink.dump(operation, type, write), decode)];
      } catch (error) {
        if (!isInterrupted(error) || attempt === ATTEMPTS) throw error;
      }
    }
  }
}

function* decodeAll<T>(messages: Iterable<Message>, decode: (body: Buffer) => T | undefined): Generator<T> {
  for (const { body } of messages) {
    const object = decode(body);
    if (object !== undefined) yield object;
  }
}

function isErrno(error: unknown, errno: string): boolean {
  return error instanceof KernelError && error.errno === errno;
}
