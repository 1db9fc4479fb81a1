import { setImmediate as nextTurn } from 'node:timers/promises';
import { KernelError } from '../errors.ts';
import { type NetlinkSocket, refusal } from './socket.ts';
import { Flag, MessageWriter } from './writer.ts';

/** An item that the kernel refused, with what it said. */
export interface Refusal<T> {
  readonly item: T;
  readonly error: KernelError;
}

/** How an item becomes a message. */
export interface BulkMessage<T> {
  readonly type: number;
  readonly flags: number;
  write(writer: MessageWriter, item: T): void;
  print(item: T): string;
}

/**
 * Bytes a send. The kernel works on a send before it returns, so this bounds how long other work waits, and how many
 * refusals are queued at once: more than the socket's buffer holds would be lost.
 */
const BYTES_A_SEND = 48 << 10;
const FLAGS_OFFSET = 6;

/**
 * Sends a message for each item, many in one send, and returns the items that were refused; the others were accepted.
 * Throws if it cannot be known what became of them.
 */
export async function sendBulk<T>(
  socket: NetlinkSocket,
  items: readonly T[],
  message: BulkMessage<T>,
): Promise<readonly Refusal<T>[]> {
  const refused: Refusal<T>[] = [];
  const first = socket.sequence(items.length);
  let batch = new Batch(message, first);
  for (const item of items) {
    batch.add(item);
    if (batch.full) {
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

  get full(): boolean {
    return this.#writer.length >= BYTES_A_SEND;
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
    // The kernel says what it refuses whether it is asked or not, so one acknowledgement tells that it saw them all.
    this.#writer.bytes.writeUInt16LE(flags | Flag.REQUEST | Flag.ACK, this.#last + FLAGS_OFFSET);
    const { acks } = await socket.exchange(this.#writer.bytes, this.#first, this.items.length);
    const end = this.#first + this.items.length - 1;
    if (!acks.some(ack => ack.sequence === end)) {
      const operation = this.items.slice(-1).map(print).join();
      throw new KernelError('KERNEL_PROTOCOL', { operation, kernelMessage: 'no acknowledgement came' });
    }
    return acks.flatMap(ack => {
      const item = this.items[ack.sequence - this.#first];
      return ack.errno && item !== undefined ? [{ item, error: refusal(print(item), ack) }] : [];
    });
  }
}
