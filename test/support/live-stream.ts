import { type ClientRequest, get } from 'node:http';
import type { LiveEvent, LiveHub } from '../../src/inspect/index.ts';
import { waitFor } from './wait-for.ts';

type Kind = LiveEvent['kind'];
type EventOf<K extends Kind> = Extract<LiveEvent, { readonly kind: K }>;

/** The events in a text of `/v1/live`. */
export function parseEvents(text: string): readonly LiveEvent[] {
  return text
    .split('\n\n')
    .filter(part => part !== '')
    .map(part => {
      const [, kind, json = ''] = /^event: (\w+)\ndata: (.*)$/.exec(part) ?? [];
      const event = JSON.parse(json) as LiveEvent;
      if (event.kind !== kind) throw new Error(`the event ${kind} says that it is ${event.kind}`);
      return event;
    });
}

/** A reader of a hub that takes every event at once, until it stops. */
export class LiveStream {
  readonly events: LiveEvent[] = [];
  /** The bytes as the hub gave them. */
  readonly parts: Uint8Array[] = [];
  readonly #gone = new AbortController();
  readonly #stream: AsyncGenerator<Uint8Array, void>;
  #isReading = true;
  #next: Promise<void> | undefined;
  error: unknown;

  constructor(hub: LiveHub) {
    this.#stream = hub.open(this.#gone.signal);
    this.#read();
  }

  of<K extends Kind>(kind: K): readonly EventOf<K>[] {
    return this.events.filter((event): event is EventOf<K> => event.kind === kind);
  }

  /** The events of a kind since the last call of this function. */
  take<K extends Kind>(kind: K): readonly EventOf<K>[] {
    const found = this.of(kind);
    const rest = this.events.filter(event => event.kind !== kind);
    this.events.splice(0, this.events.length, ...rest);
    return found;
  }

  /** The reader takes nothing from now on. */
  pause(): void {
    this.#isReading = false;
  }

  resume(): void {
    this.#isReading = true;
    this.#read();
  }

  /** The caller is gone. */
  leave(): void {
    this.#gone.abort();
  }

  #read(): void {
    this.#next ??= this.#stream.next().then(
      ({ done, value }) => {
        this.#next = undefined;
        if (done) return;
        this.parts.push(value);
        this.events.push(...parseEvents(Buffer.from(value).toString()));
        if (this.#isReading) this.#read();
      },
      error => {
        this.error = error;
      },
    );
  }
}

/** A reader of a running proxy, at its Unix socket. */
export class LiveClient {
  readonly events: LiveEvent[] = [];
  readonly #request: ClientRequest;
  #rest = '';
  #hasEnded = false;

  constructor(socketPath: string) {
    this.#request = get({ socketPath, path: '/v1/live', agent: false, headers: { Host: 'localhost' } }, response => {
      response.setEncoding('utf8');
      response.on('data', (text: string) => this.#received(text));
      response.on('close', () => (this.#hasEnded = true));
      response.on('error', () => {});
    });
    this.#request.on('error', () => (this.#hasEnded = true));
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Waits for an event of the kind that the test accepts. */
  async until<K extends Kind>(kind: K, accept: (event: EventOf<K>) => boolean = () => true): Promise<EventOf<K>> {
    const find = () =>
      this.events.find((event): event is EventOf<K> => event.kind === kind && accept(event as EventOf<K>));
    const kinds = () => this.events.map(event => JSON.stringify(event).slice(0, 300)).join('\n');
    await waitFor(`an event ${kind}`, () => find() !== undefined, { details: kinds });
    return find() as EventOf<K>;
  }

  close(): void {
    this.#request.destroy();
  }

  #received(text: string): void {
    const parts = (this.#rest + text).split('\n\n');
    this.#rest = parts.pop() ?? '';
    for (const part of parts) this.events.push(...parseEvents(part));
  }
}
