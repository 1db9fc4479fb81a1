import { KernelError, withModuleAdvice } from '../errors.ts';
import {
  type Message,
  type MessageWriter,
  NetlinkSocket,
  Protocol,
  type Refusal,
  sendBulk,
  type TransportOptions,
} from '../netlink/index.ts';
import { CONTROL, decodeFamily, encodeGetFamily, type GenericFamily, genericHeader, printGetFamily } from './family.ts';

/** The length of `struct genlmsghdr`, with which the body of an answer begins. */
export const GENERIC_HEADER_LENGTH = 4;

/** How to turn an item of a bulk into a command of its family. */
export interface GenericBulk<T> {
  command(item: T): number;
  write(writer: MessageWriter, item: T): void;
  print(item: T): string;
}

/** The modules of families that the proxy needs. */
const MODULES: ReadonlyMap<string, string> = new Map([['IPVS', 'ip_vs']]);

/** A socket to the families of generic netlink. `operation` is the command that an error message names. */
export class GenericSocket {
  readonly #netlink: NetlinkSocket;
  readonly #families = new Map<string, GenericFamily>();

  constructor(netlink: NetlinkSocket) {
    this.#netlink = netlink;
  }

  static open(options?: TransportOptions): GenericSocket {
    return new GenericSocket(NetlinkSocket.open(Protocol.GENERIC, options));
  }

  /** Asks the kernel for a family the first time. The kernel loads the family's module if necessary. */
  getFamily(name: string): GenericFamily {
    const known = this.#families.get(name);
    if (known) return known;
    const operation = printGetFamily(name);
    const messages = this.#requestFamily(operation, name);
    const family = messages.map(({ body }) => decodeFamily(body)).find(found => found?.name === name);
    if (!family) throw new KernelError('KERNEL_PROTOCOL', { operation, reason: 'the answer contains no family' });
    this.#families.set(name, family);
    return family;
  }

  #requestFamily(operation: string, name: string): readonly Message[] {
    try {
      return this.#netlink.request(operation, CONTROL.id, 0, writer => encodeGetFamily(writer, name));
    } catch (error) {
      const module = MODULES.get(name);
      throw module === undefined ? error : withModuleAdvice(error, module);
    }
  }

  request(
    operation: string,
    family: string,
    command: number,
    version: number,
    write: (writer: MessageWriter) => void = () => {},
  ): readonly Message[] {
    return this.#netlink.request(operation, this.getFamily(family).id, 0, writer =>
      write(writer.struct(genericHeader(command, version))),
    );
  }

  /** Every object, one at a time. A message is valid until the caller takes the next one. */
  dump(
    operation: string,
    family: string,
    command: number,
    version: number,
    write: (writer: MessageWriter) => void = () => {},
  ): Generator<Message> {
    return this.#netlink.dump(operation, this.getFamily(family).id, writer =>
      write(writer.struct(genericHeader(command, version))),
    );
  }

  /** The same as `dump`, but it lets other work run in between. */
  stream(
    operation: string,
    family: string,
    command: number,
    version: number,
    write: (writer: MessageWriter) => void = () => {},
  ): AsyncGenerator<Message> {
    return this.#netlink.stream(operation, this.getFamily(family).id, writer =>
      write(writer.struct(genericHeader(command, version))),
    );
  }

  /** Sends a command for each item, many in one send, and returns the items that the kernel refused. */
  async bulk<T>(
    family: string,
    version: number,
    items: readonly T[],
    bulk: GenericBulk<T>,
  ): Promise<readonly Refusal<T>[]> {
    return sendBulk(this.#netlink, items, {
      type: this.getFamily(family).id,
      flags: 0,
      write: (writer, item) => bulk.write(writer.struct(genericHeader(bulk.command(item), version)), item),
      print: item => bulk.print(item),
    });
  }

  close(): void {
    this.#netlink.close();
  }
}
