import { KernelError } from '../errors.ts';
import { type Ack, Flag, type Message, MessageWriter, type NetlinkSocket } from '../netlink/index.ts';

/** A message to be sent; `operation` says in an error what was tried. */
export interface Request {
  readonly operation: string;
  readonly type: number;
  readonly flags: number;
  write(writer: MessageWriter): void;
}

export interface Answers {
  /** What the kernel said of the requests that it refused, by their index. */
  readonly refusals: ReadonlyMap<number, Ack>;
  readonly messages: readonly Message[];
}

/** Requests in one send. All may be refused, and the refusals must fit the socket's receive buffer. */
const REQUESTS_A_SEND = 2000;

/**
 * Sends requests, many at a time. Only the last of a send is to be acknowledged: the kernel handles them in order and
 * answers those that it refuses anyway, so an acknowledgement for each would only cost time.
 */
export async function ask(socket: NetlinkSocket, requests: readonly Request[]): Promise<Answers> {
  const refusals = new Map<number, Ack>();
  const messages: Message[] = [];
  for (let from = 0; from < requests.length; from += REQUESTS_A_SEND) {
    const some = requests.slice(from, from + REQUESTS_A_SEND);
    const first = socket.sequence(some.length);
    const last = first + some.length - 1;
    const reply = await socket.exchange(encode(some, first), first, some.length);
    if (!reply.acks.some(ack => ack.sequence === last)) {
      const operation = some[some.length - 1]?.operation ?? 'conntrack';
      throw new KernelError('KERNEL_PROTOCOL', { operation, kernelMessage: 'no acknowledgement came' });
    }
    for (const ack of reply.acks) if (ack.errno) refusals.set(from + ack.sequence - first, ack);
    for (const message of reply.messages) messages.push(message);
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
