/** A message of a text/event-stream. */
export interface SseMessage {
  /** The name of the event. */
  readonly event: string;
  readonly data: string;
}

/** A message that is longer is a fault of the sender. */
const MAX_LENGTH = 64 * 1024 * 1024;

/** Cuts a text/event-stream into messages, wherever its parts were cut. Lines end with LF or CR LF. */
export class SseParser {
  /** The beginning of a line that has no end yet, in the parts in which it came. */
  #rest: string[] = [];
  #restLength = 0;
  #event = '';
  #data: string[] = [];

  /** Returns the messages that this part completes. Comments only show that the sender is alive. */
  push(part: string): readonly SseMessage[] {
    const messages: SseMessage[] = [];
    let from = 0;
    for (let end = part.indexOf('\n'); end >= 0; end = part.indexOf('\n', from)) {
      const line = this.#rest.join('') + part.slice(from, end);
      this.#rest = [];
      this.#restLength = 0;
      from = end + 1;
      const message = this.#line(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (message) messages.push(message);
    }
    this.#keep(part.slice(from));
    return messages;
  }

  #keep(part: string): void {
    if (part === '') return;
    this.#rest.push(part);
    this.#restLength += part.length;
    if (this.#restLength > MAX_LENGTH) throw new Error('The proxy sent a line that is too long.');
  }

  #line(line: string): SseMessage | undefined {
    if (line === '') return this.#finish();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') this.#event = value;
    if (field === 'data') this.#data.push(value);
    return undefined;
  }

  #finish(): SseMessage | undefined {
    const message = { event: this.#event || 'message', data: this.#data.join('\n') };
    const hasData = this.#data.length > 0;
    this.#event = '';
    this.#data = [];
    return hasData ? message : undefined;
  }
}
