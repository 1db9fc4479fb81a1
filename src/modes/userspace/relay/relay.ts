import { closeRaw, EAGAIN, endWriting, Ready, receive, resetStream, transmit } from '../../../kernel/sockets/index.ts';
import type { Traffic } from './relay-resources.ts';

/** Pieces of one connection that are copied before others get their turn. */
const PIECES_A_TURN = 16;

export interface RelayEvents {
  /** So many bytes went from the first to the second. */
  forward(bytes: number): void;
  backward(bytes: number): void;
  /** Both descriptors are closed. */
  closed(): void;
}

/** One way of a connection. */
interface Way {
  readonly from: number;
  readonly to: number;
  readonly count: (bytes: number) => void;
  /** Read, but not yet taken by the other end; nothing more is read before it is. */
  held: Buffer | undefined;
  /** The sender has ended: what is buffered by the kernel may hold its last bytes. */
  ending: boolean;
  /** All was passed on, the end too. */
  done: boolean;
  deferred: boolean;
}

/**
 * Copies between two connections, both ways, with at most one piece of each way in memory. The end of one way is passed
 * on and the other way goes on; a connection that breaks is broken on both sides.
 */
export class Relay {
  readonly #traffic: Traffic;
  readonly #events: RelayEvents;
  readonly #forward: Way;
  readonly #backward: Way;
  #closed = false;

  constructor(traffic: Traffic, first: number, second: number, events: RelayEvents) {
    this.#traffic = traffic;
    this.#events = events;
    this.#forward = wayOf(first, second, bytes => events.forward(bytes));
    this.#backward = wayOf(second, first, bytes => events.backward(bytes));
  }

  /** Takes what the two were told to be ready for so far, for nobody tells a second time. */
  start(first: number, second: number): void {
    this.firstReady(first | Ready.READ);
    this.secondReady(second | Ready.READ);
  }

  firstReady(events: number): void {
    this.#ready(events, this.#forward, this.#backward);
  }

  secondReady(events: number): void {
    this.#ready(events, this.#backward, this.#forward);
  }

  /** Ends both connections at once. */
  break(): void {
    this.#close(resetStream);
  }

  #ready(events: number, reading: Way, writing: Way): void {
    if (events & (Ready.PEER_ENDED | Ready.HANGUP | Ready.ERROR)) reading.ending = true;
    // One that ended before and now broke has nothing more to be read, not even its error.
    if (events & Ready.ERROR && reading.done) this.break();
    if (events & ~Ready.WRITE) this.#pump(reading);
    if (events & ~Ready.READ && writing.held) this.#pump(writing);
  }

  #pump(way: Way): void {
    for (let pieces = 0; !this.#closed && !way.done; pieces++) {
      if (pieces === PIECES_A_TURN) {
        this.#defer(way);
        return;
      }
      if (way.held) {
        if (!this.#flush(way, way.held)) return;
      } else if (!this.#copy(way)) return;
    }
  }

  /** Returns whether there may be more to copy. */
  #copy(way: Way): boolean {
    const { buffer } = this.#traffic;
    const count = receive(way.from, buffer);
    if (count > 0) {
      way.count(count);
      const sent = transmit(way.to, buffer, count);
      if (sent < 0 && sent !== -EAGAIN) return this.#broken();
      const taken = Math.max(sent, 0);
      if (taken < count) {
        this.#hold(way, Buffer.from(buffer.subarray(taken, count)));
        return false;
      }
      // A piece that is not full was the last, unless the end follows it, of which nobody tells a second time.
      return count === buffer.length || way.ending;
    }
    if (count === -EAGAIN) return false;
    if (count < 0) return this.#broken();
    this.#end(way);
    return false;
  }

  /** Returns whether all of it was taken. */
  #flush(way: Way, held: Buffer): boolean {
    const sent = transmit(way.to, held, held.length);
    if (sent < 0) return sent === -EAGAIN ? false : this.#broken();
    this.#hold(way, sent === held.length ? undefined : held.subarray(sent));
    return sent === held.length;
  }

  #hold(way: Way, bytes: Buffer | undefined): void {
    this.#traffic.held += (bytes?.length ?? 0) - (way.held?.length ?? 0);
    way.held = bytes;
  }

  #end(way: Way): void {
    way.done = true;
    endWriting(way.to);
    if (this.#forward.done && this.#backward.done) this.#close(closeRaw);
  }

  #defer(way: Way): void {
    if (way.deferred) return;
    way.deferred = true;
    this.#traffic.options.poll.defer(() => {
      way.deferred = false;
      this.#pump(way);
    });
  }

  #broken(): false {
    this.break();
    return false;
  }

  #close(close: (fd: number) => void): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#hold(this.#forward, undefined);
    this.#hold(this.#backward, undefined);
    for (const { from } of [this.#forward, this.#backward]) {
      this.#traffic.options.poll.remove(from);
      close(from);
    }
    this.#events.closed();
  }
}

function wayOf(from: number, to: number, count: (bytes: number) => void): Way {
  return { from, to, count, held: undefined, ending: false, done: false, deferred: false };
}
