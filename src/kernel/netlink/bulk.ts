import { setImmediate as nextTurn } from 'node:timers/promises';
import { KernelError } from '../errors.ts';
import { type NetlinkSocket, refusalError } from './socket.ts';
import { Flag, MessageWriter } from './writer.ts';

/** An item that the kernel refused, and its error. */
export interface Refusal<T> {
  readonly item: T;
  readonly error: KernelError;
}

/** How to turn an item into a message. */
export interface BulkMessage<T> {
  readonly type: number;
  readonly flags: number;
  write(writer: MessageWriter, item: T): void;
  print(item: T): string;
}

/**
 * The kernel handles a whole send before the call returns, so this limits how long other work waits. It also limits how
 * many refusals the kernel queues at once: the kernel drops those that do not fit into the socket's buffer.
 */
const BYTES_PER_SEND = 48 << 10;
const FLAGS_OFFSET = 6;

/**
 * Sends a message for each item, many in one send. Returns the items that the kernel refused; it accepted all others.
 * Throws if it is unknown which items the kernel accepted.
 */
export async function sendBulk<T>(
  socket: NetlinkSocket,
  items: readonly T[],
  message: BulkMessage<T>,
): Promise<readonly Refusal<T>[]> {
  const refused: Refusal<T>[] = [];
  const first = socket.reserveSequence(items.length);
  let batch = new Batch(message, first);
  for (const item of items) {
    batch.add(item);
    if (batch.isFull) {
      refused.push(...(await batch.send(socket)));
      batch = batch.next();
      await nextTurn();
    }
  }
  if (batch.items.length > 0) refused.push(...(await batch.send(socket)));
  return refused;
}

class Batch<T> {
  readonly items: T[] = [];
  readonly #message: BulkMessage<T>;
  readonly #first: number;
  readonly #writer = new MessageWriter();
  #last = 0;

  constructor(message: BulkMessage<T>, first: number) {
    this.#message = message;
    this.#first = first;
  }

  get isFull(): boolean {
    return this.#writer.length >= BYTES_PER_SEND;
  }

  next(): Batch<T> {
    return new Batch(this.#message, this.#first + this.items.length);
  }

  add(item: T): void {
    const { type, flags } = this.#message;
    this.#last = this.#writer.length;
    this.#writer.begin(type, flags | Flag.REQUEST, this.#first + this.items.length);
    this.#message.write(this.#writer, item);
    this.#writer.end();
    this.items.push(item);
  }

  async send(socket: NetlinkSocket): Promise<Refusal<T>[]> {
    const { print, flags } = this.#message;
    // The kernel always answers messages that it refuses. So only the last message asks for an acknowledgement, which
    // proves that the kernel has handled all of them.
    this.#writer.bytes.writeUInt16LE(flags | Flag.REQUEST | Flag.ACK, this.#last + FLAGS_OFFSET);
    const { acks } = await socket.exchange(this.#writer.bytes, this.#first, this.items.length);
    const end = this.#first + this.items.length - 1;
    if (!acks.some(ack => ack.sequence === end)) {
      const operation = this.items.slice(-1).map(print).join();
      throw new KernelError('KERNEL_PROTOCOL', { operation, reason: 'the kernel sent no acknowledgement' });
    }
    return acks.flatMap(ack => {
      const item = this.items[ack.sequence - this.#first];
      return ack.errno && item !== undefined ? [{ item, error: refusalError(print(item), ack) }] : [];
    });
  }
}
