import { KernelError } from '../errors.ts';
import { type Ack, Flag, type Message, MessageWriter, NetlinkSocket, type Transport } from '../netlink/index.ts';
import { notingErrorLines } from './error-line.ts';

/** A message to be sent; `operation` says in an error what was tried. */
export interface Request {
  readonly operation: string;
  readonly type: number;
  readonly flags: number;
  write(writer: MessageWriter): void;
}

export interface Refused {
  readonly ack: Ack;
  /** The line of the entry at fault. */
  readonly line: number | undefined;
}

export interface Answers {
  /** What the kernel said of the requests that it refused, by their index. */
  readonly refusals: ReadonlyMap<number, Refused>;
  readonly messages: readonly Message[];
}

/** Limits of one send. All may be refused, and the refusals must fit the socket's receive buffer. */
const REQUESTS_A_SEND = 2000;
const BYTES_A_SEND = 4 << 20;

/** Sends requests, many at a time. */
export class Requests {
  readonly #socket: NetlinkSocket;
  readonly #lines = new Map<number, number>();

  constructor(transport: Transport) {
    this.#socket = new NetlinkSocket(notingErrorLines(transport, this.#lines));
  }

  async ask(requests: readonly Request[]): Promise<Answers> {
    const refusals = new Map<number, Refused>();
    const messages: Message[] = [];
    for (let from = 0; from < requests.length; ) {
      const some = requests.slice(from, from + REQUESTS_A_SEND);
      const first = this.#socket.reserveSequence(some.length);
      const writer = encode(some, first);
      const reply = await this.#socket.exchange(writer.bytes, first, writer.messageCount);
      const last = first + writer.messageCount - 1;
      if (!reply.acks.some(ack => ack.sequence === last)) throw unanswered(some[writer.messageCount - 1]);
      for (const ack of reply.acks) {
        const line = this.#lines.get(ack.sequence);
        if (ack.errno) refusals.set(from + ack.sequence - first, { ack, line });
        this.#lines.delete(ack.sequence);
      }
      for (const message of reply.messages) messages.push(message);
      from += writer.messageCount;
    }
    return { refusals, messages };
  }

  close(): void {
    this.#socket.close();
  }
}

/**
 * Writes as many requests as one send takes. Only the last is to be acknowledged: the kernel handles them in order and
 * answers those that it refuses anyway.
 */
function encode(requests: readonly Request[], first: number): MessageWriter {
  const writer = new MessageWriter();
  for (const [index, { type, flags, write }] of requests.entries()) {
    const isLast = index === requests.length - 1 || writer.length > BYTES_A_SEND;
    write(writer.begin(type, flags | Flag.REQUEST | (isLast ? Flag.ACK : 0), first + index));
    writer.end();
    if (isLast) break;
  }
  return writer;
}

function unanswered(request: Request | undefined): KernelError {
  const operation = request?.operation ?? 'ipset';
  return new KernelError('KERNEL_PROTOCOL', { operation, reason: 'no acknowledgement came' });
}
