import type { LiveEvent, LiveHub } from '../../src/inspect/index.ts';

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
