import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type ConnectionPlace, peerOf } from './connection-table.ts';
import type { Turn, TurnQueue } from './turn-queue.ts';

/**
 * A peer that takes no byte of its answer for this long is disconnected. Node compares the bytes that are left at the end
 * of each such time, so it takes up to twice as long.
 */
const TAKE_NOTHING_MS = 5000;
const END_OF_HEADERS = '\r\n\r\n';

export interface HttpConnectionOptions {
  readonly socket: Socket;
  readonly place: ConnectionPlace;
  readonly turns: TurnQueue;
  /** The first bytes that the peer sent. */
  readonly bytes: Buffer;
}

type Callback = (error?: Error | null) => void;

/**
 * A connection that gives Node's HTTP server one request at a time. Node would parse and start all requests of a packet
 * at once, and hold all of their answers in memory. Here the next request waits until the peer has taken the answer
 * before. Meanwhile the connection reads at most one packet ahead, so that TCP slows the peer down.
 */
export class HttpConnection extends Duplex implements Turn {
  /** The address of the peer, or the network of its IPv6 address. Empty at a Unix socket. */
  readonly peer: string;
  readonly #socket: Socket;
  readonly #turns: TurnQueue;
  readonly #place: ConnectionPlace;
  /** Bytes that the HTTP server has not got yet. */
  #waiting: Buffer;
  #hasEnded = false;
  #isWanted = false;
  #isWriting = false;
  /** Requests that began and have no whole answer. A second one can begin with the end of the body of the first. */
  readonly #unanswered = new Map<IncomingMessage, AbortController>();
  /** Start the requests that wait until an earlier one is answered. */
  readonly #starts: (() => void)[] = [];
  #isFirst = true;
  #writeAnswer: (() => void) | undefined;

  constructor({ socket, place, turns, bytes }: HttpConnectionOptions) {
    super({ allowHalfOpen: true, decodeStrings: false });
    this.#socket = socket;
    this.peer = peerOf(socket.remoteAddress ?? '');
    this.#turns = turns;
    this.#place = place;
    this.#waiting = bytes;
    socket.pause();
    socket.on('data', (more: Buffer) => {
      socket.pause();
      this.#waiting = this.#waiting.length === 0 ? more : Buffer.concat([this.#waiting, more]);
      turns.add(this);
    });
    socket.on('end', () => {
      this.#hasEnded = true;
      for (const closed of this.#unanswered.values()) closed.abort();
      turns.add(this);
    });
    // The HTTP server then closes the connection.
    socket.on('timeout', () => this.emit('timeout'));
    socket.on('error', () => this.destroy());
    socket.on('close', () => this.destroy());
  }

  get isFirst(): boolean {
    return this.#isFirst;
  }

  /** A request has no whole answer yet. */
  get isServing(): boolean {
    return this.#unanswered.size > 0;
  }

  /** A request runs. Otherwise the connection waits for its peer. */
  get isBusy(): boolean {
    const [request] = this.#unanswered.keys();
    return request?.complete === true && !this.#isWriting;
  }

  /**
   * The HTTP server has parsed the headers of a request. Calls `start` when all earlier requests are answered. Its
   * signal is aborted when the request is answered, or when the peer has ended its side of the connection.
   */
  serve(request: IncomingMessage, response: ServerResponse, start: (closed: AbortSignal) => void): void {
    const closed = new AbortController();
    const isAlone = this.#unanswered.size === 0;
    this.#unanswered.set(request, closed);
    response.once('close', () => this.#answered(request));
    if (isAlone) start(closed.signal);
    else this.#starts.push(() => start(closed.signal));
  }

  #answered(request: IncomingMessage): void {
    this.#unanswered.get(request)?.abort();
    this.#unanswered.delete(request);
    this.#place.answered();
    if (this.destroyed) return;
    this.#starts.shift()?.();
    this.#turns.add(this);
  }

  /** Resolves when an answer, or a part of it, may be written that is ready only now. Many can be ready at once. */
  turn(): Promise<void> {
    if (this.destroyed) return Promise.resolve();
    return new Promise(resolve => {
      this.#writeAnswer = resolve;
      this.#turns.add(this);
    });
  }

  /** Lets an answer be written that is ready, or else passes bytes on. */
  run(): void {
    const write = this.#writeAnswer;
    this.#writeAnswer = undefined;
    if (!write && this.#isWanted) this.#passBytes();
    write?.();
    // Without a further turn the connection would not notice that the peer of a long stream disappears.
    if (write && this.#isWanted) this.#turns.add(this);
  }

  /** Gives the HTTP server the bytes up to the end of the next headers, so one request at most. */
  #passBytes(): void {
    if (this.#waiting.length === 0 && !this.#hasEnded) {
      this.#socket.resume();
      return;
    }
    // A peer that has ended its side of the connection still waits for its answer.
    if (this.#mustWait()) return;
    if (this.#waiting.length === 0) {
      this.push(null);
      return;
    }
    const end = this.#waiting.indexOf(END_OF_HEADERS);
    const size = end < 0 ? this.#waiting.length : end + END_OF_HEADERS.length;
    const bytes = this.#waiting.subarray(0, size);
    this.#waiting = this.#waiting.subarray(size);
    this.#isWanted = false;
    this.#isFirst = false;
    this.push(bytes);
  }

  /** A request whose body has not come needs more bytes. */
  #mustWait(): boolean {
    const [request] = this.#unanswered.keys();
    return request?.complete === true;
  }

  /** The HTTP server limits the time between two requests with this. */
  setTimeout(ms: number): this {
    this.#socket.setTimeout(ms);
    return this;
  }

  /** The HTTP server calls this after the last answer of a connection. */
  destroySoon(): void {
    this.end(() => this.destroy());
  }

  override _read(): void {
    this.#isWanted = true;
    this.#turns.add(this);
  }

  override _write(chunk: string | Uint8Array, encoding: BufferEncoding, callback: Callback): void {
    this._writev([{ chunk, encoding }], callback);
  }

  override _writev(
    chunks: readonly { chunk: string | Uint8Array; encoding: BufferEncoding }[],
    callback: Callback,
  ): void {
    this.#isWriting = true;
    this.#socket.setTimeout(TAKE_NOTHING_MS);
    // Headers and body leave in one packet if they fit.
    this.#socket.cork();
    chunks.forEach(({ chunk, encoding }, i) => {
      if (i < chunks.length - 1) this.#socket.write(chunk, encoding);
      else this.#socket.write(chunk, encoding, error => this.#written(callback, error));
    });
    this.#socket.uncork();
  }

  #written(callback: Callback, error: Error | null | undefined): void {
    this.#isWriting = false;
    this.#socket.setTimeout(0);
    callback(error);
  }

  override _final(callback: Callback): void {
    this.#socket.end(() => callback());
  }

  override _destroy(error: Error | null, callback: Callback): void {
    this.#turns.remove(this);
    this.#writeAnswer?.();
    this.#place.free();
    this.#socket.destroy();
    callback(error);
  }
}
