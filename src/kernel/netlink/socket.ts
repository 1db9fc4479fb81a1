import { setImmediate as nextTurn } from 'node:timers/promises';
import { Turns } from '../../lib/turns.ts';
import { KernelError } from '../errors.ts';
import { type Ack, decodeAck, MessageType } from './ack.ts';
import { type Message, readMessages } from './reader.ts';
import { openTransport, type Protocol, type Transport, type TransportOptions } from './transport.ts';
import { Flag, MessageWriter } from './writer.ts';

const FLAG_DUMP_INTERRUPTED = 0x10;
/** A larger send goes to a thread of the pool, because the kernel may need milliseconds for it. */
const BACKGROUND_SEND = 64 << 10;
/** How many messages a stream handles before it lets other work run. */
const MESSAGES_PER_TURN = 2000;

export interface Reply {
  /** The kernel's answer to each request that asked for an acknowledgement, and to each request that it refused. */
  readonly acks: readonly Ack[];
  /** The objects in the answer. Their bytes are copies. */
  readonly messages: readonly Message[];
}

/**
 * A netlink socket for requests. The kernel answers inside the send, so the whole answer is waiting when the send
 * returns. Only a dump is different: the kernel makes it piece by piece while this socket reads it.
 */
export class NetlinkSocket {
  readonly #transport: Transport;
  readonly #pending = new Set<PendingReply>();
  readonly #exchanges = new Turns();
  #sequence = 1;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  static open(protocol: Protocol, options?: TransportOptions): NetlinkSocket {
    return new NetlinkSocket(openTransport(protocol, options));
  }

  /** Reserves `count` sequence numbers for the caller and returns the first of them. */
  reserveSequence(count = 1): number {
    if (this.#sequence + count > 0xffffffff) this.#sequence = 1;
    const first = this.#sequence;
    this.#sequence += count;
    return first;
  }

  /**
   * Sends one request and returns the objects of the answer. Throws if the kernel refuses the request; `operation` is
   * the command that the error message names.
   */
  request(operation: string, type: number, flags: number, write: (writer: MessageWriter) => void): readonly Message[] {
    const sequence = this.reserveSequence();
    const writer = new MessageWriter(512).begin(type, flags | Flag.REQUEST | Flag.ACK, sequence);
    write(writer);
    const { acks, messages } = this.#collect(sequence, 1, () => this.#transport.send(writer.end().bytes));
    const [ack] = acks;
    if (!ack) throw new KernelError('KERNEL_PROTOCOL', { operation, reason: 'the kernel sent no acknowledgement' });
    if (ack.errno) throw refusalError(operation, ack);
    return messages;
  }

  /**
   * Sends messages that have the numbers from `reserveSequence(count)` and collects the answers. Exchanges run one
   * after another.
   */
  exchange(bytes: Uint8Array, first: number, count: number): Promise<Reply> {
    return this.#exchanges.take(async () => {
      if (bytes.length <= BACKGROUND_SEND) return this.#collect(first, count, () => this.#transport.send(bytes));
      return this.#collectInBackground(first, count, () => this.#transport.sendInBackground(bytes));
    });
  }

  /** All objects, one at a time in constant memory. A message is valid until the caller takes the next one. */
  *dump(operation: string, type: number, write: (writer: MessageWriter) => void, flags = 0): Generator<Message> {
    const sequence = this.reserveSequence();
    const writer = new MessageWriter(512).begin(type, flags | Flag.REQUEST | Flag.DUMP, sequence);
    write(writer);
    this.#transport.send(writer.end().bytes);
    let interrupted = false;
    for (;;) {
      const datagram = this.#transport.receive();
      if (!datagram) throw new KernelError('KERNEL_PROTOCOL', { operation, reason: 'the dump ended early' });
      for (const message of readMessages(datagram)) {
        if (message.sequence !== sequence) {
          this.#deliver(message);
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

  /** The same as `dump`, but it lets other work run in between. */
  async *stream(
    operation: string,
    type: number,
    write: (writer: MessageWriter) => void,
    flags = 0,
  ): AsyncGenerator<Message> {
    let handled = 0;
    for (const message of this.dump(operation, type, write, flags)) {
      yield message;
      if (++handled % MESSAGES_PER_TURN === 0) await nextTurn();
    }
  }

  /**
   * The same as `stream`, but a thread of the pool waits while the kernel makes the dump. For dumps with a filter: the
   * kernel searches its whole table before it sends anything.
   */
  async *streamInBackground(
    operation: string,
    type: number,
    write: (writer: MessageWriter) => void,
  ): AsyncGenerator<Message> {
    for await (const batch of this.batchesInBackground(operation, type, write)) yield* batch;
  }

  /** The same, but the messages come as the kernel sends them: many at once, which are valid until the next ones come. */
  async *batchesInBackground(
    operation: string,
    type: number,
    write: (writer: MessageWriter) => void,
  ): AsyncGenerator<readonly Message[]> {
    const sequence = this.reserveSequence();
    const writer = new MessageWriter(512).begin(type, Flag.REQUEST | Flag.DUMP, sequence);
    write(writer);
    await this.#transport.sendInBackground(writer.end().bytes);
    for (;;) {
      const datagram = await (this.#transport.receiveInBackground?.() ?? this.#transport.receive());
      if (!datagram) throw new KernelError('KERNEL_PROTOCOL', { operation, reason: 'the dump ended early' });
      const batch: Message[] = [];
      for (const message of readMessages(datagram)) {
        if (message.sequence !== sequence) continue;
        if (message.type === MessageType.DONE || message.type === MessageType.ERROR) {
          yield batch;
          finishDump(operation, message, false);
          return;
        }
        batch.push(message);
      }
      yield batch;
    }
  }

  close(): void {
    this.#transport.close();
  }

  #collect(first: number, count: number, send: () => void): Reply {
    const reply: PendingReply = { first, count, acks: [], messages: [] };
    this.#pending.add(reply);
    try {
      send();
      this.#receiveAll();
      return reply;
    } finally {
      this.#pending.delete(reply);
    }
  }

  async #collectInBackground(first: number, count: number, send: () => Promise<void>): Promise<Reply> {
    const reply: PendingReply = { first, count, acks: [], messages: [] };
    this.#pending.add(reply);
    try {
      await send();
      this.#receiveAll();
      return reply;
    } finally {
      this.#pending.delete(reply);
    }
  }

  #receiveAll(): void {
    for (let datagram = this.#transport.receive(); datagram; datagram = this.#transport.receive()) {
      for (const message of readMessages(datagram)) this.#deliver(message);
    }
  }

  /**
   * Gives a message to the reply that it belongs to. Several replies can be pending, because the caller may send a
   * request while a thread sends a batch. A message that belongs to none is left over from a failed exchange.
   */
  #deliver(message: Message): void {
    const { sequence, type } = message;
    for (const reply of this.#pending) {
      if (sequence < reply.first || sequence >= reply.first + reply.count) continue;
      if (type === MessageType.ERROR) {
        const ack = decodeAck(message);
        if (ack) reply.acks.push(ack);
      } else if (type !== MessageType.DONE && type !== MessageType.NOOP) {
        reply.messages.push({ ...message, body: Buffer.from(message.body) });
      }
    }
  }
}

/** The reply to the sequence numbers from `first` on, while messages arrive. */
interface PendingReply {
  readonly first: number;
  readonly count: number;
  readonly acks: Ack[];
  readonly messages: Message[];
}

/** The error for a request that the kernel refused. */
export function refusalError(operation: string, ack: Ack, object?: string, attribute?: string): KernelError {
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
  if (ack?.errno) throw refusalError(operation, ack);
  if (interrupted) {
    throw new KernelError('KERNEL_INTERRUPTED', { operation, reason: 'objects changed while they were listed' });
  }
}
