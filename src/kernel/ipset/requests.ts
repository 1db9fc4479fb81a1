import { KernelError } from '../errors.ts';
import { type Ack, Flag, type Message, MessageWriter, NetlinkSocket, type Transport } from '../netlink/index.ts';
import { recordErrorLines } from './error-line.ts';

export interface Request {
  /** The command that an error message names. */
  readonly operation: string;
  readonly type: number;
  readonly flags: number;
  write(writer: MessageWriter): void;
}

export interface RefusedRequest {
  readonly ack: Ack;
  /** The line of the refused entry. */
  readonly line: number | undefined;
}

export interface Answers {
  /** The kernel's answers to the requests that it refused, by the index of the request. */
  readonly refusals: ReadonlyMap<number, RefusedRequest>;
  readonly messages: readonly Message[];
}

/** Limits of one send. The kernel may refuse all requests, and all refusals must fit into the receive buffer. */
const REQUESTS_PER_SEND = 2000;
const BYTES_PER_SEND = 4 << 20;

/** Sends requests, many in one send. */
export class Requests {
  readonly #socket: NetlinkSocket;
  readonly #lines = new Map<number, number>();

  constructor(transport: Transport) {
    this.#socket = new NetlinkSocket(recordErrorLines(transport, this.#lines));
  }

  async send(requests: readonly Request[]): Promise<Answers> {
    const refusals = new Map<number, RefusedRequest>();
    const messages: Message[] = [];
    for (let from = 0; from < requests.length; ) {
      const part = requests.slice(from, from + REQUESTS_PER_SEND);
      const first = this.#socket.reserveSequence(part.length);
      const writer = encode(part, first);
      const reply = await this.#socket.exchange(writer.bytes, first, writer.messageCount);
      const last = first + writer.messageCount - 1;
      if (!reply.acks.some(ack => ack.sequence === last)) throw noAcknowledgement(part[writer.messageCount - 1]);
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
 * Writes as many requests as fit into one send. Only the last one asks for an acknowledgement, because the kernel
 * handles the requests in order and always answers those that it refuses.
 */
function encode(requests: readonly Request[], first: number): MessageWriter {
  const writer = new MessageWriter();
  for (const [index, { type, flags, write }] of requests.entries()) {
    const isLast = index === requests.length - 1 || writer.length > BYTES_PER_SEND;
    write(writer.begin(type, flags | Flag.REQUEST | (isLast ? Flag.ACK : 0), first + index));
    writer.end();
    if (isLast) break;
  }
  return writer;
}

function noAcknowledgement(request: Request | undefined): KernelError {
  const operation = request?.operation ?? 'ipset';
  return new KernelError('KERNEL_PROTOCOL', { operation, reason: 'the kernel sent no acknowledgement' });
}
