import { KernelError } from '../errors.ts';
import type { Ack } from './ack.ts';
import type { Message } from './reader.ts';
import type { NetlinkSocket } from './socket.ts';
import { Flag, MessageWriter } from './writer.ts';

export interface Request {
  /** The command that an error message names. */
  readonly operation: string;
  readonly type: number;
  readonly flags: number;
  write(writer: MessageWriter): void;
}

export interface Answers {
  /** The kernel's answers to the requests that it refused, by the index of the request. */
  readonly refusals: ReadonlyMap<number, Ack>;
  readonly messages: readonly AnswerMessage[];
}

export interface AnswerMessage extends Message {
  /** The index of the request that the message answers. */
  readonly request: number;
}

/** The kernel may refuse all requests of a send, and all answers to a send must fit into the socket's receive buffer. */
const REQUESTS_PER_SEND = 2000;

/**
 * Sends requests, many in one send. Only the last request of a send asks for an acknowledgement. The kernel handles the
 * requests in order and always answers those that it refuses, so more acknowledgements would only cost time.
 */
export async function sendRequests(socket: NetlinkSocket, requests: readonly Request[]): Promise<Answers> {
  const refusals = new Map<number, Ack>();
  const messages: AnswerMessage[] = [];
  for (let from = 0; from < requests.length; from += REQUESTS_PER_SEND) {
    const part = requests.slice(from, from + REQUESTS_PER_SEND);
    const first = socket.reserveSequence(part.length);
    const last = first + part.length - 1;
    const reply = await socket.exchange(encode(part, first), first, part.length);
    if (!reply.acks.some(ack => ack.sequence === last)) {
      const operation = part[part.length - 1]?.operation ?? 'netlink';
      throw new KernelError('KERNEL_PROTOCOL', { operation, reason: 'the kernel sent no acknowledgement' });
    }
    for (const ack of reply.acks) if (ack.errno) refusals.set(from + ack.sequence - first, ack);
    for (const message of reply.messages) messages.push({ ...message, request: from + message.sequence - first });
  }
  return { refusals, messages };
}

function encode(requests: readonly Request[], first: number): Buffer {
  const writer = new MessageWriter(128 * requests.length);
  for (const [index, { type, flags, write }] of requests.entries()) {
    const ack = index === requests.length - 1 ? Flag.ACK : 0;
    write(writer.begin(type, flags | Flag.REQUEST | ack, first + index));
    writer.end();
  }
  return writer.bytes;
}
