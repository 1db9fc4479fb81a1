import type { Family } from '../../net/index.ts';
import { KernelError } from '../errors.ts';
import { type Message, NetlinkSocket, openTransport, Protocol, type Transport } from '../netlink/index.ts';
import type { NetworkNamespace } from '../netns.ts';
import type { Command } from './command.ts';
import { type Element, type Entry, encodeTested, printElement } from './entry.ts';
import { decodeEntries, decodeName, encodeList, type ListDepth } from './list.ts';
import { Attr, encodeHead, IpsetMessage } from './message.ts';
import { commonProtocol, decodeProtocol, encodeProtocol } from './protocol-version.ts';
import { ipsetRefusalError, isExistError } from './refusal.ts';
import { type Request, Requests } from './requests.ts';
import { type Refusal, type RestoreOptions, restore } from './restore.ts';
import { decodeHeader, decodeSet, type IpSet, type SetHeader } from './set.ts';
import { commonRevision, decodeType, encodeType, isSetType, type SetType } from './set-type.ts';

export interface IpsetOptions {
  /** Must stay open as long as the socket, because each list opens its own socket in the namespace. */
  readonly namespace?: NetworkNamespace | undefined;
}

/** The kernel's sets of addresses and ports. */
export class IpsetSocket {
  readonly #open: () => Transport;
  readonly #protocol: number;
  readonly #requests: Requests;
  readonly #revisions = new Map<string, number>();

  /** Asks the kernel for its protocol versions. This also makes the kernel load the module. */
  constructor(open: () => Transport) {
    this.#open = open;
    this.#protocol = negotiateProtocol(open);
    this.#requests = new Requests(open());
  }

  static open({ namespace }: IpsetOptions = {}): IpsetSocket {
    return new IpsetSocket(() => openTransport(Protocol.NETFILTER, { namespace }));
  }

  /**
   * Runs commands in order, as many in one send as possible. Returns the commands that the kernel refused, and runs all
   * others. Within adjacent `add` commands, or adjacent `del` commands, the order of entries can change.
   */
  restore(commands: readonly Command[], options: RestoreOptions = {}): Promise<readonly Refusal[]> {
    const revision = (set: IpSet) => this.revision(set.type, set.family);
    return restore({ requests: this.#requests, protocol: this.#protocol, revision }, commands, options);
  }

  create(set: IpSet, options?: RestoreOptions): Promise<void> {
    return this.#run({ kind: 'create', set }, options);
  }

  /** Destroys a set, or all sets. The kernel destroys none of all sets if one of them is in use. */
  destroy(name?: string, options?: RestoreOptions): Promise<void> {
    return this.#run(name === undefined ? { kind: 'destroy' } : { kind: 'destroy', name }, options);
  }

  /** Removes all entries of a set, or of all sets. */
  flush(name?: string): Promise<void> {
    return this.#run(name === undefined ? { kind: 'flush' } : { kind: 'flush', name });
  }

  rename(name: string, name2: string): Promise<void> {
    return this.#run({ kind: 'rename', name, name2 });
  }

  /** Exchanges the contents of two sets of the same type. */
  swap(name: string, name2: string): Promise<void> {
    return this.#run({ kind: 'swap', name, name2 });
  }

  /** Adds entries and returns those that the kernel refused. */
  add(name: string, entries: readonly Entry[], options?: RestoreOptions): Promise<readonly Refusal[]> {
    return this.restore([{ kind: 'add', name, entries }], options);
  }

  /** Deletes entries and returns those that the kernel refused. */
  del(name: string, entries: readonly Entry[], options?: RestoreOptions): Promise<readonly Refusal[]> {
    return this.restore([{ kind: 'del', name, entries }], options);
  }

  /** True if the entry is in the set. */
  async test(name: string, entry: Element): Promise<boolean> {
    const operation = `test ${name} ${printElement(entry)}`;
    const { refusals } = await this.#requests.send([
      {
        operation,
        type: IpsetMessage.TEST,
        flags: 0,
        write: writer => {
          encodeHead(writer, this.#protocol);
          encodeTested(writer.string(Attr.SETNAME, name), entry);
        },
      },
    ]);
    const refused = refusals.get(0);
    if (refused && !isExistError(refused.ack)) throw ipsetRefusalError(operation, refused.ack, entry.kind);
    return refused === undefined;
  }

  /** The names of all sets. */
  *names(): Generator<string, void, undefined> {
    for (const message of this.#list('names')) {
      const name = decodeName(message);
      if (name !== undefined) yield name;
    }
  }

  /** A set without its entries, or all sets. */
  *headers(name?: string): Generator<SetHeader, void, undefined> {
    for (const message of this.#list('headers', name)) {
      const header = decodeHeader(message.body);
      if (header) yield header;
    }
  }

  /** The entries of a set, one at a time in constant memory. Yields nothing for a set of an unsupported type. */
  *entries(name: string): Generator<Entry, void, undefined> {
    for (const command of this.save(name)) if (command.kind === 'add') yield* command.entries;
  }

  /**
   * The commands that would create a set, or all sets, as they are: a `create` and an `add` for each entry, one at a
   * time in constant memory. Leaves out sets of unsupported types.
   */
  *save(name?: string): Generator<Command, void, undefined> {
    let set: IpSet | undefined;
    for (const message of this.#list('entries', name)) {
      const listed = decodeSet(message.body);
      if (listed) {
        const { type } = listed;
        set = isSetType(type) ? { ...listed, type } : undefined;
        if (set) yield { kind: 'create', set };
      }
      if (!set) continue;
      for (const entry of decodeEntries(message, set.type)) yield { kind: 'add', name: set.name, entries: [entry] };
    }
  }

  /** The revision with which sets of a type are created: the highest that the kernel and this folder know. */
  async revision(type: SetType, family?: Family): Promise<number> {
    const key = `${type} ${family}`;
    const operation = `find set type ${key}`;
    const known = this.#revisions.get(key);
    if (known !== undefined) return known;
    const write: Request['write'] = writer => encodeType(writer, this.#protocol, type, family);
    const { refusals, messages } = await this.#requests.send([{ operation, type: IpsetMessage.TYPE, flags: 0, write }]);
    const refused = refusals.get(0);
    if (refused) throw ipsetRefusalError(operation, refused.ack);
    const range = messages[0] && decodeType(messages[0].body);
    const revision = range && commonRevision(type, range);
    if (revision === undefined) {
      const reason = range
        ? `the kernel supports only the revisions ${range.min} to ${range.max}`
        : 'the answer contains no revision';
      throw new KernelError('KERNEL_PROTOCOL', { operation, reason });
    }
    this.#revisions.set(key, revision);
    return revision;
  }

  close(): void {
    this.#requests.close();
  }

  async #run(command: Command, options?: RestoreOptions): Promise<void> {
    const [refusal] = await this.restore([command], options);
    if (refusal) throw refusal.error;
  }

  /**
   * Opens a socket for each list, so that several lists can run at once. If the caller leaves a list early, closing the
   * socket discards the rest.
   */
  *#list(depth: ListDepth, name?: string): Generator<Message, void, undefined> {
    const operation = name === undefined ? 'list' : `list ${name}`;
    const socket = new NetlinkSocket(this.#open());
    try {
      yield* socket.dump(operation, IpsetMessage.LIST, writer => encodeList(writer, this.#protocol, depth, name));
    } catch (error) {
      if (!(error instanceof KernelError) || error.code !== 'KERNEL_REFUSED') throw error;
      throw ipsetRefusalError(operation, { errno: error.errno, message: error.kernelMessage });
    } finally {
      socket.close();
    }
  }
}

function negotiateProtocol(open: () => Transport): number {
  const operation = 'get the ipset protocol version';
  const socket = new NetlinkSocket(open());
  try {
    const [answer] = socket.request(operation, IpsetMessage.PROTOCOL, 0, encodeProtocol);
    const range = answer && decodeProtocol(answer.body);
    const protocol = range && commonProtocol(range);
    if (protocol !== undefined) return protocol;
    const reason = range
      ? `the kernel supports only the protocol versions ${range.min} to ${range.max}`
      : 'the answer contains no protocol version';
    throw new KernelError('KERNEL_PROTOCOL', { operation, reason });
  } finally {
    socket.close();
  }
}
