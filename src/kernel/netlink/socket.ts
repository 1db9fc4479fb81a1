import { setImmediate as nextTurn } from 'node:timers/promises';
import { KernelError } from '../errors.ts';
import { type Ack, decodeAck, MessageType } from './ack.ts';
import { type Message, readMessages } from './reader.ts';
import { openTransport, type Protocol, type Transport, type TransportOptions } from './transport.ts';
import { Flag, MessageWriter } from './writer.ts';

const FLAG_DUMP_INTERRUPTED = 0x10;
/** A send of more than this goes to a thread, for the kernel may work on it for milliseconds. */
const BACKGROUND_SEND = 64 << 10;
/** How many messages of a stream are handled before other work gets a turn. */
const MESSAGES_A_TURN = 2000;

export interface Reply {
  /** What the kernel said of each request that asked for an acknowledgement, and of each that it refused. */
  readonly acks: readonly Ack[];
  /** Objects that it answered with. Their bytes are copies. */
  readonly messages: readonly Message[];
}

/**
 * A netlink socket for requests. The kernel answers inside the send, so when a send has returned, its whole answer is
 * waiting; only a dump is made piece by piece as it is read.
 */
export class NetlinkSocket {
  readonly #transport: Transport;
  readonly #open = new Set<Answer>();
  #sequence = 1;
  #busy: Promise<unknown> = Promise.resolve();

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  static open(protocol: Protocol, options?: TransportOptions): NetlinkSocket {
    return new NetlinkSocket(openTransport(protocol, options));
  }

  /** The first of `count` sequence numbers that no other request of this socket has. */
  sequence(count = 1): number {
    if (this.#sequence + count > 0xffffffff) this.#sequence = 1;
    const first = this.#sequence;
    this.#sequence += count;
    return first;
  }

  /**
   * Sends one request and returns the objects that it was answered with; throws if it was refused. `operation` says in
   * the error what was tried.
   */
  request(operation: string, type: number, flags: number, write: (writer: MessageWriter) => void): readonly Message[] {
    const sequence = this.sequence();
    const writer = new MessageWriter(512).begin(type, flags | Flag.REQUEST | Flag.ACK, sequence);
    write(writer);
    const { acks, messages } = this.#collect(sequence, 1, () => this.#transport.send(writer.end().bytes));
    const [ack] = acks;
    if (!ack) throw new KernelError('KERNEL_PROTOCOL', { operation, kernelMessage: 'no acknowledgement came' });
    if (ack.errno) throw refusal(operation, ack);
    return messages;
  }

  /**
   * Sends messages that were written with numbers from `sequence(count)` and collects what is said of them. One such
   * exchange runs at a time; the others wait their turn.
   */
  exchange(bytes: Uint8Array, first: number, count: number): Promise<Reply> {
    const exchange = this.#busy.then(() => {
      if (bytes.length <= BACKGROUND_SEND) return this.#collect(first, count, () => this.#transport.send(bytes));
      return this.#collectLater(first, count, () => this.#transport.sendInBackground(bytes));
    });
    this.#busy = exchange.catch(() => undefined);
    return exchange;
  }

  /** All objects of a dump, one at a time in constant memory. Each message is valid until the next is asked for. */
  *dump(operation: string, type: number, write: (writer: MessageWriter) => void, flags = 0): Generator<Message> {
    const sequence = this.sequence();
    const writer = new MessageWriter(512).begin(type, flags | Flag.REQUEST | Flag.DUMP, sequence);
    write(writer);
    this.#transport.send(writer.end().bytes);
    let interrupted = false;
    for (;;) {
      const datagram = this.#transport.receive();
      if (!datagram) throw new KernelError('KERNEL_PROTOCOL', { operation, kernelMessage: 'the dump ended early' });
      for (const message of readMessages(datagram)) {
        if (message.sequence !== sequence) {
          this.#sort(message);
          continue;
        }
        interrupted ||= (message.flags & FLAG_DUMP_INTERRUPTED) !== 0;
        if (message.type === MessageType.DONE || message.type === MessageType.ERROR) {
          finishDump(operation, message, interrupted);
          return;
        }
        yield message;
      }
    }
  }

  /** A dump that lets other work run in between. */
  async *stream(
    operation: string,
    type: number,
    write: (writer: MessageWriter) => void,
    flags = 0,
  ): AsyncGenerator<Message> {
    let handled = 0;
    for (const message of this.dump(operation, type, write, flags)) {
      yield message;
      if (++handled % MESSAGES_A_TURN === 0) await nextTurn();
    }
  }

  close(): void {
    this.#transport.close();
  }

  #collect(first: number, count: number, send: () => void): Reply {
    const answer: Answer = { first, count, acks: [], messages: [] };
    this.#open.add(answer);
    try {
      send();
      this.#receiveAll();
      return answer;
    } finally {
      this.#open.delete(answer);
    }
  }

  async #collectLater(first: number, count: number, send: () => Promise<void>): Promise<Reply> {
    const answer: Answer = { first, count, acks: [], messages: [] };
    this.#open.add(answer);
    try {
      await send();
      this.#receiveAll();
      return answer;
    } finally {
      this.#open.delete(answer);
    }
  }

  #receiveAll(): void {
    for (let datagram = this.#transport.receive(); datagram; datagram = this.#transport.receive()) {
      for (const message of readMessages(datagram)) this.#sort(message);
    }
  }

  /**
   * A request may be made while a batch is being sent from another thread, so what is received goes to whom it is
   * meant for. What is left from an exchange that was given up is for nobody.
   */
  #sort(message: Message): void {
    const { sequence, type } = message;
    for (const answer of this.#open) {
      if (sequence < answer.first || sequence >= answer.first + answer.count) continue;
      if (type === MessageType.ERROR) {
        const ack = decodeAck(message);
        if (ack) answer.acks.push(ack);
      } else if (type !== MessageType.DONE && type !== MessageType.NOOP) {
        answer.messages.push({ ...message, body: Buffer.from(message.body) });
      }
    }
  }
}

interface Answer {
  readonly first: number;
  readonly count: number;
  readonly acks: Ack[];
  readonly messages: Message[];
}

export function refusal(operation: string, ack: Ack, object?: string, attribute?: string): KernelError {
  return new KernelError(ack.errno === 'ERESTART' ? 'KERNEL_STALE' : 'KERNEL_REFUSED', {
    operation,
    errno: ack.errno,
    kernelMessage: ack.message,
    object,
    attribute,
  });
}

function finishDump(operation: string, message: Message, interrupted: boolean): void {
  const ack = decodeAck(message);
  if (ack?.errno) throw refusal(operation, ack);
  if (interrupted) {
    throw new KernelError('KERNEL_INTERRUPTED', { operation, kernelMessage: 'objects changed while they were listed' });
  }
}
