import { check, close, epollCreate1, epollCtl, epollWait, type Poll, pollReadable } from '../libc.ts';

/** The events of a descriptor, as bits: `EPOLLIN`, `EPOLLOUT`, … */
export const Ready = { READ: 1, WRITE: 4, ERROR: 8, HANGUP: 0x10, PEER_ENDED: 0x2000 } as const;

export type ReadyHandler = (events: number) => void;

const EPOLL_CLOEXEC = 0o2000000;
const ADD = 1;
const REMOVE = 2;
const EDGE_TRIGGERED = 0x80000000;
const INTEREST = (EDGE_TRIGGERED | Ready.READ | Ready.WRITE | Ready.PEER_ENDED) >>> 0;
/** `struct epoll_event` has the events and a number of ours. Only x86 has no padding between them. */
const DATA_OFFSET = process.arch === 'x64' ? 4 : 8;
const EVENT_SIZE = process.arch === 'x64' ? 12 : 16;
const EVENTS_PER_TURN = 512;

/** Holds all open polls, because the garbage collector would remove an unreferenced poll handle with its callback. */
const OPEN = new Set<EventPoll>();

interface Entry {
  readonly serial: number;
  readonly handler: ReadyHandler;
}

/**
 * Calls a handler when its descriptor becomes ready. It calls once for each change (edge-triggered), so the handler
 * must continue until the descriptor returns EAGAIN. One epoll descriptor stands for all descriptors, so thousands of
 * them need no handles of Node. The poll keeps the process alive until it is closed.
 */
export class EventPoll {
  readonly #fd: number;
  readonly #poll: Poll;
  readonly #onError: (error: unknown) => void;
  readonly #entries = new Map<number, Entry>();
  readonly #events = Buffer.alloc(EVENT_SIZE * EVENTS_PER_TURN);
  readonly #event = Buffer.alloc(EVENT_SIZE);
  #deferred: (() => void)[] = [];
  #serial = 0;
  #closed = false;

  /** `onError` receives what a handler throws. The other handlers are still called. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
    this.#fd = check(epollCreate1(EPOLL_CLOEXEC), 'create an epoll descriptor');
    this.#poll = pollReadable(this.#fd, () => this.#dispatch(), { keepsAlive: true });
    OPEN.add(this);
  }

  get size(): number {
    return this.#entries.size;
  }

  add(fd: number, handler: ReadyHandler): void {
    // Between two events of a turn, a descriptor can be closed and its number can be used again. The serial number
    // distinguishes the old descriptor from the new one.
    this.#serial = (this.#serial + 1) >>> 0;
    this.#event.writeUInt32LE(INTEREST, 0);
    this.#event.writeUInt32LE(fd, DATA_OFFSET);
    this.#event.writeUInt32LE(this.#serial, DATA_OFFSET + 4);
    check(epollCtl(this.#fd, ADD, fd, this.#event), 'watch a descriptor');
    this.#entries.set(fd, { serial: this.#serial, handler });
  }

  /** Call this before you close the descriptor. */
  remove(fd: number): void {
    if (this.#entries.delete(fd)) epollCtl(this.#fd, REMOVE, fd, this.#event);
  }

  /** Runs the work after the other handlers of this turn. */
  defer(work: () => void): void {
    this.#deferred.push(work);
    if (this.#deferred.length === 1) setImmediate(() => this.#runDeferred());
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    OPEN.delete(this);
    this.#deferred = [];
    this.#entries.clear();
    this.#poll.close();
    close(this.#fd);
  }

  #dispatch(): void {
    if (this.#closed) return;
    const count = epollWait(this.#fd, this.#events, EVENTS_PER_TURN, 0);
    for (let i = 0; i < count; i++) {
      const at = i * EVENT_SIZE;
      const entry = this.#entries.get(this.#events.readUInt32LE(at + DATA_OFFSET));
      if (entry?.serial !== this.#events.readUInt32LE(at + DATA_OFFSET + 4)) continue;
      const events = this.#events.readUInt32LE(at);
      this.#run(() => entry.handler(events));
    }
  }

  #runDeferred(): void {
    const work = this.#deferred;
    this.#deferred = [];
    for (const run of work) this.#run(run);
  }

  #run(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#onError(error);
    }
  }
}
