import { check, close, epollCreate1, epollCtl, epollWait, type Poll, pollReadable } from '../libc.ts';

/** What a descriptor is ready for, as bits: `EPOLLIN`, `EPOLLOUT`, … */
export const Ready = { READ: 1, WRITE: 4, ERROR: 8, HANGUP: 0x10, PEER_ENDED: 0x2000 } as const;

export type ReadyHandler = (events: number) => void;

const EPOLL_CLOEXEC = 0o2000000;
const ADD = 1;
const REMOVE = 2;
const EDGE_TRIGGERED = 0x80000000;
const INTEREST = (EDGE_TRIGGERED | Ready.READ | Ready.WRITE | Ready.PEER_ENDED) >>> 0;
/** `struct epoll_event`: events, then a number of ours; without padding on x86 only. */
const DATA_AT = process.arch === 'x64' ? 4 : 8;
const EVENT_SIZE = process.arch === 'x64' ? 12 : 16;
const EVENTS_A_TURN = 512;

/** A handle that nobody holds is collected with its callback, and then nothing is told any more. */
const OPEN = new Set<EventPoll>();

interface Entry {
  readonly serial: number;
  readonly handler: ReadyHandler;
}

/**
 * Tells when descriptors become ready: once for each change, so whoever is told must go on until nothing is left. One
 * descriptor of the kernel's stands for all of them, so that thousands cost no handles of Node's. It keeps the process
 * alive until it is closed.
 */
export class EventPoll {
  readonly #fd: number;
  readonly #poll: Poll;
  readonly #failed: (error: unknown) => void;
  readonly #entries = new Map<number, Entry>();
  readonly #events = Buffer.alloc(EVENT_SIZE * EVENTS_A_TURN);
  readonly #event = Buffer.alloc(EVENT_SIZE);
  #deferred: (() => void)[] = [];
  #serial = 0;
  #closed = false;

  /** What a handler throws is handed over, and the others are told all the same. */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
    this.#fd = check(epollCreate1(EPOLL_CLOEXEC), 'make an epoll descriptor');
    this.#poll = pollReadable(this.#fd, () => this.#dispatch(), { keepsAlive: true });
    OPEN.add(this);
  }

  get size(): number {
    return this.#entries.size;
  }

  add(fd: number, handler: ReadyHandler): void {
    // A descriptor may be closed and its number used again between two events of one turn.
    this.#serial = (this.#serial + 1) >>> 0;
    this.#event.writeUInt32LE(INTEREST, 0);
    this.#event.writeUInt32LE(fd, DATA_AT);
    this.#event.writeUInt32LE(this.#serial, DATA_AT + 4);
    check(epollCtl(this.#fd, ADD, fd, this.#event), 'watch a descriptor');
    this.#entries.set(fd, { serial: this.#serial, handler });
  }

  /** To be called before the descriptor is closed. */
  remove(fd: number): void {
    if (this.#entries.delete(fd)) epollCtl(this.#fd, REMOVE, fd, this.#event);
  }

  /** Does it after others had their turn. */
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
    const count = epollWait(this.#fd, this.#events, EVENTS_A_TURN, 0);
    for (let i = 0; i < count; i++) {
      const at = i * EVENT_SIZE;
      const entry = this.#entries.get(this.#events.readUInt32LE(at + DATA_AT));
      if (entry?.serial !== this.#events.readUInt32LE(at + DATA_AT + 4)) continue;
      const events = this.#events.readUInt32LE(at);
      this.#try(() => entry.handler(events));
    }
  }

  #runDeferred(): void {
    const work = this.#deferred;
    this.#deferred = [];
    for (const run of work) this.#try(run);
  }

  #try(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#failed(error);
    }
  }
}
