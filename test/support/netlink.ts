import {
  Flag,
  HEADER_LENGTH,
  type Message,
  MessageWriter,
  readMessages,
  type Transport,
} from '../../src/kernel/netlink/index.ts';

const NESTED = 0x8000;
const ERROR = 2;
const DONE = 3;

/**
 * A message that a reference program sent, as strace shows it, in a form that can be compared: sequence number and port
 * are zero, and bytes after the message are cut off.
 */
export function captured(hex: string): string {
  const bytes = Buffer.from(hex.replaceAll(/\s/g, ''), 'hex');
  return bytes.subarray(0, bytes.readUInt32LE(0)).fill(0, 8, HEADER_LENGTH).toString('hex');
}

/** Our own message in the same form. The bit for nested attributes is cleared, because `ip` does not set it. */
export function comparable(message: Uint8Array, structure: number): string {
  const bytes = Buffer.from(message).fill(0, 8, HEADER_LENGTH);
  clearNestedBits(bytes.subarray(HEADER_LENGTH + structure));
  return bytes.toString('hex');
}

function clearNestedBits(attributes: Buffer): void {
  for (let at = 0; at + 4 <= attributes.length; ) {
    const length = attributes.readUInt16LE(at);
    if (length < 4) return;
    const type = attributes.readUInt16LE(at + 2);
    if (type & NESTED) {
      attributes.writeUInt16LE(type & ~NESTED, at + 2);
      clearNestedBits(attributes.subarray(at + 4, at + length));
    }
    at += (length + 3) & ~3;
  }
}

/** One message with the sequence number 1. */
export function message(type: number, flags: number, write: (writer: MessageWriter) => void): Buffer {
  const writer = new MessageWriter().begin(type, flags, 1);
  write(writer);
  return writer.end().bytes;
}

/** An answer to a request: an object or an errno. The errno 0 is an acknowledgement. */
export type Answer = number | { readonly type: number; readonly flags?: number; write(writer: MessageWriter): void };

/**
 * Records all messages, and answers each message with what `answers` returns. If `answers` returns undefined, a request
 * for an acknowledgement gets one, and a dump is empty.
 */
export class RecordingTransport implements Transport {
  readonly sent: Buffer[] = [];
  readonly #waiting: Buffer[] = [];
  readonly #answers: (request: Message) => readonly Answer[] | undefined;

  constructor(answers: (request: Message) => readonly Answer[] | undefined = () => undefined) {
    this.#answers = answers;
  }

  send(bytes: Uint8Array): void {
    const sent = Buffer.from(bytes);
    this.sent.push(sent);
    for (const request of readMessages(sent)) {
      const dump = (request.flags & Flag.DUMP) === Flag.DUMP && !(request.flags & Flag.CREATE);
      const answers = [...(this.#answers(request) ?? (dump || !(request.flags & Flag.ACK) ? [] : [0]))];
      if (dump) answers.push({ type: DONE, write: writer => writer.struct(Buffer.alloc(4)) });
      for (const answer of answers) this.#waiting.push(encodeAnswer(request, answer));
    }
  }

  async sendInBackground(bytes: Uint8Array): Promise<void> {
    this.send(bytes);
  }

  receive(): Buffer | undefined {
    return this.#waiting.shift();
  }

  join(): void {}

  poll(): { close(): void } {
    return { close() {} };
  }

  close(): void {}
}

function encodeAnswer(request: Message, answer: Answer): Buffer {
  if (typeof answer !== 'number') {
    const writer = new MessageWriter().begin(answer.type, answer.flags ?? 0, request.sequence);
    answer.write(writer);
    return writer.end().bytes;
  }
  const body = Buffer.alloc(4 + HEADER_LENGTH);
  body.writeInt32LE(-answer, 0);
  return new MessageWriter().begin(ERROR, 0, request.sequence).struct(body).end().bytes;
}
