import { KernelError } from '../errors.ts';
import { Flag, type MessageWriter, NetlinkSocket, openTransport, Protocol, type Transport } from '../netlink/index.ts';
import type { NetworkNamespace } from '../netns.ts';
import { type Counter, decodeCounter, encodeName, MAX_NAME_BYTES, NfacctMessage } from './counter.ts';

export interface NfacctOptions {
  readonly namespace?: NetworkNamespace | undefined;
}

/** The kernel's named packet counters. A kernel without nfnetlink_acct refuses every request. */
export class NfacctSocket {
  readonly #socket: NetlinkSocket;

  constructor(transport: Transport) {
    this.#socket = new NetlinkSocket(transport);
  }

  static open({ namespace }: NfacctOptions = {}): NfacctSocket {
    return new NfacctSocket(openTransport(Protocol.NETFILTER, { namespace }));
  }

  /** Returns undefined if there is no such counter. */
  get(name: string): Counter | undefined {
    const operation = `get nfacct ${name}`;
    try {
      const [answer] = this.#request(operation, NfacctMessage.GET, 0, name);
      const counter = answer && decodeCounter(answer.body);
      if (!counter) throw new KernelError('KERNEL_PROTOCOL', { operation, reason: 'the answer contains no counter' });
      return counter;
    } catch (error) {
      if (error instanceof KernelError && error.errno === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** The kernel refuses a name that another counter has. */
  add(name: string): void {
    this.#request(`add nfacct ${name}`, NfacctMessage.NEW, Flag.CREATE, name);
  }

  /** Adds the counter if it is missing. An existing counter keeps its numbers. */
  ensure(name: string): void {
    if (!this.get(name)) this.add(name);
  }

  close(): void {
    this.#socket.close();
  }

  #request(operation: string, type: number, flags: number, name: string) {
    if (name === '' || Buffer.byteLength(name) > MAX_NAME_BYTES) {
      throw new RangeError(`the name of a counter must have 1 to ${MAX_NAME_BYTES} bytes: ${JSON.stringify(name)}`);
    }
    return this.#socket.request(operation, type, flags, (writer: MessageWriter) => encodeName(writer, name));
  }
}
