import { closeRaw, EAGAIN, endWriting, Ready, receive, resetStream, transmit } from '../../kernel/sockets/index.ts';
import type { RelayResources } from './relay-resources.ts';

/** After this many chunks of one connection, other connections have their turn. */
const CHUNKS_PER_TURN = 16;

export interface RelayEvents {
  /** This many bytes went from the client to the endpoint. */
  sentToEndpoint(bytes: number): void;
  sentToClient(bytes: number): void;
  /** Both descriptors are closed. */
  closed(): void;
}

/** One direction of a connection. */
interface Direction {
  readonly from: number;
  readonly to: number;
  readonly count: (bytes: number) => void;
  /** Bytes that were read and that the other end has not taken yet. The relay reads no more before it has. */
  held: Buffer | undefined;
  /** The sender has ended. The kernel may still buffer its last bytes. */
  isEnding: boolean;
  /** All bytes and the end were passed on. */
  isDone: boolean;
  isDeferred: boolean;
}

/**
 * Copies between a client and an endpoint, in both directions, and holds at most one chunk of each direction in memory.
 * It passes the end of one direction on, and the other direction goes on. If one side breaks, it breaks the other.
 */
export class Relay {
  readonly #resources: RelayResources;
  readonly #events: RelayEvents;
  readonly #toEndpoint: Direction;
  readonly #toClient: Direction;
  #closed = false;

  constructor(resources: RelayResources, client: number, endpoint: number, events: RelayEvents) {
    this.#resources = resources;
    this.#events = events;
    this.#toEndpoint = directionOf(client, endpoint, bytes => events.sentToEndpoint(bytes));
    this.#toClient = directionOf(endpoint, client, bytes => events.sentToClient(bytes));
  }

  /** Takes the events that the two descriptors had so far, because the poll does not report them again. */
  start(clientEvents: number, endpointEvents: number): void {
    this.clientReady(clientEvents | Ready.READ);
    this.endpointReady(endpointEvents | Ready.READ);
  }

  clientReady(events: number): void {
    this.#ready(events, this.#toEndpoint, this.#toClient);
  }

  endpointReady(events: number): void {
    this.#ready(events, this.#toClient, this.#toEndpoint);
  }

  /** Resets both connections. */
  break(): void {
    this.#close(resetStream);
  }

  /** Closes both connections. Each side reads the end of the stream, or an error if bytes of it were not read. */
  end(): void {
    this.#close(closeRaw);
  }

  #ready(events: number, reading: Direction, writing: Direction): void {
    if (events & (Ready.PEER_ENDED | Ready.HANGUP | Ready.ERROR)) reading.isEnding = true;
    // After a side has ended, a read no longer returns its error.
    if (events & Ready.ERROR && reading.isDone) this.break();
    if (events & ~Ready.WRITE) this.#pump(reading);
    if (events & ~Ready.READ && writing.held) this.#pump(writing);
  }

  #pump(direction: Direction): void {
    for (let chunks = 0; !this.#closed && !direction.isDone; chunks++) {
      if (chunks === CHUNKS_PER_TURN) {
        this.#defer(direction);
        return;
      }
      if (direction.held) {
        if (!this.#flush(direction, direction.held)) return;
      } else if (!this.#copy(direction)) return;
    }
  }

  /** Returns whether there may be more to copy. */
  #copy(direction: Direction): boolean {
    const { buffer } = this.#resources;
    const count = receive(direction.from, buffer);
    if (count > 0) {
      direction.count(count);
      const sent = transmit(direction.to, buffer, count);
      if (sent < 0 && sent !== -EAGAIN) return this.#breakOff();
      const taken = Math.max(sent, 0);
      if (taken < count) {
        this.#hold(direction, Buffer.from(buffer.subarray(taken, count)));
        return false;
      }
      // After a chunk that is not full only the end can follow, and the poll does not report the end again.
      return count === buffer.length || direction.isEnding;
    }
    if (count === -EAGAIN) return false;
    if (count < 0) return this.#breakOff();
    this.#end(direction);
    return false;
  }

  /** Returns whether the other end took all held bytes. */
  #flush(direction: Direction, held: Buffer): boolean {
    const sent = transmit(direction.to, held, held.length);
    if (sent < 0) return sent === -EAGAIN ? false : this.#breakOff();
    this.#hold(direction, sent === held.length ? undefined : held.subarray(sent));
    return sent === held.length;
  }

  #hold(direction: Direction, bytes: Buffer | undefined): void {
    this.#resources.heldBytes += (bytes?.length ?? 0) - (direction.held?.length ?? 0);
    direction.held = bytes;
  }

  #end(direction: Direction): void {
    direction.isDone = true;
    endWriting(direction.to);
    if (this.#toEndpoint.isDone && this.#toClient.isDone) this.#close(closeRaw);
  }

  #defer(direction: Direction): void {
    if (direction.isDeferred) return;
    direction.isDeferred = true;
    this.#resources.options.poll.defer(() => {
      direction.isDeferred = false;
      this.#pump(direction);
    });
  }

  #breakOff(): false {
    this.break();
    return false;
  }

  #close(close: (fd: number) => void): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#hold(this.#toEndpoint, undefined);
    this.#hold(this.#toClient, undefined);
    for (const { from } of [this.#toEndpoint, this.#toClient]) {
      this.#resources.options.poll.remove(from);
      close(from);
    }
    this.#events.closed();
  }
}

function directionOf(from: number, to: number, count: (bytes: number) => void): Direction {
  return { from, to, count, held: undefined, isEnding: false, isDone: false, isDeferred: false };
}
