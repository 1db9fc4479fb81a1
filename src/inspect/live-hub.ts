import { randomUUID } from 'node:crypto';
import type { Facts } from '../explain/index.ts';
import type { History } from '../history/index.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { ObservedConnection } from './live-events.ts';
import { eventBytes } from './live-parts.ts';
import { LiveReader } from './live-reader.ts';
import { LiveSession } from './live-session.ts';
import type { PulseRecorder } from './pulse.ts';
import { QueryError } from './route.ts';
import type { ProxyStatus } from './status.ts';

const MAX_READERS = 32;

export interface LiveHubOptions {
  readonly clock?: Clock | undefined;
  readonly nodeName: string;
  facts(): Facts;
  readonly history: History;
  status(): ProxyStatus;
  readonly pulse: PulseRecorder;
  /** Undefined if the mode does not count connections. */
  connectionCounts(): Promise<ReadonlyMap<string, number> | undefined>;
}

/** Sends what changes to all readers of `/v1/live`. Without readers it does nothing. */
export class LiveHub {
  readonly #options: LiveHubOptions & { readonly clock: Clock };
  readonly #readers = new Set<LiveReader>();
  readonly #run = randomUUID();
  #session: LiveSession | undefined;
  #rowsComputed = 0;
  #isClosed = false;

  constructor(options: LiveHubOptions) {
    this.#options = { ...options, clock: options.clock ?? systemClock };
  }

  get readers(): number {
    return this.#readers.size;
  }

  /** How many rows the hub has computed so far. */
  get rowsComputed(): number {
    return this.#rowsComputed + (this.#session?.rowsComputed ?? 0);
  }

  /** The last reading of the connection counters. Undefined without readers, and if the mode does not count. */
  get lastCounts(): ReadonlyMap<string, number> | undefined {
    return this.#session?.lastCounts;
  }

  /** The events for a new reader, until it is gone. Throws a `QueryError` if there are too many readers. */
  open(gone: AbortSignal): AsyncGenerator<Uint8Array, void> {
    if (this.#readers.size >= MAX_READERS)
      throw new QueryError(`${MAX_READERS} readers follow this proxy: close one of their pages`, 429);
    const reader = new LiveReader();
    if (gone.aborted || this.#isClosed) reader.end();
    else {
      gone.addEventListener('abort', () => this.#leave(reader), { once: true });
      this.#readers.add(reader);
    }
    if (this.#readers.size > 0) this.#session ??= this.#startSession();
    return this.#events(reader, this.#session);
  }

  /** The demo made these connections. */
  observed(connections: readonly ObservedConnection[]): void {
    if (this.#readers.size === 0) return;
    const event = eventBytes({ kind: 'observed', connections });
    for (const reader of this.#readers) reader.observed(event);
  }

  close(): void {
    this.#isClosed = true;
    this.#endAll();
  }

  #startSession(): LiveSession {
    return new LiveSession(this.#options, this.#readers, () => this.#endAll());
  }

  #endAll(): void {
    for (const reader of this.#readers) this.#leave(reader);
  }

  async *#events(reader: LiveReader, session: LiveSession | undefined): AsyncGenerator<Uint8Array, void> {
    try {
      if (session) yield* reader.events(session.welcome(reader, this.#run));
    } finally {
      this.#leave(reader);
    }
  }

  #leave(reader: LiveReader): void {
    reader.end();
    if (!this.#readers.delete(reader) || this.#readers.size > 0 || !this.#session) return;
    this.#rowsComputed += this.#session.rowsComputed;
    this.#session.close();
    this.#session = undefined;
  }
}
