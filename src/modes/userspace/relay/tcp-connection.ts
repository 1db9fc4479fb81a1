import { setUserTimeout, Ready, resetStream } from '../../../kernel/sockets/index.ts';
import { errorText } from '../../../lib/error-text.ts';
import type { Backend } from './balancer.ts';
import { Dial, type DialOptions } from './dial.ts';
import { Relay } from './relay.ts';

/** What may stay unconfirmed by an endpoint that left the plan: its machine may be gone without a word. */
const UNCONFIRMED_MS = 60_000;

export interface ConnectionEvents {
  connected(): void;
  forward(bytes: number): void;
  backward(bytes: number): void;
  failedOnce(backend: Backend, reason: string): void;
  failed(reason: string): void;
  closed(connection: TcpConnection): void;
}

/** A client's connection, from when it is accepted until both sides have ended. */
export class TcpConnection {
  readonly #options: DialOptions;
  readonly #client: number;
  readonly #events: ConnectionEvents;
  readonly #dial: Dial;
  #relay: Relay | undefined;
  #endpoint: { readonly backend: Backend; readonly fd: number } | undefined;
  /** What the client was ready for before there was an endpoint. */
  #early = 0;
  #isLimited = false;
  #closed = false;

  /** Watches and owns the client's descriptor. What the client sends waits in the kernel until someone takes it. */
  constructor(options: DialOptions, client: number, events: ConnectionEvents) {
    this.#options = options;
    this.#client = client;
    this.#events = events;
    this.#dial = new Dial(options, {
      connected: (backend, fd, ready) => this.#connected(backend, fd, ready),
      failedOnce: (backend, reason) => events.failedOnce(backend, reason),
      failed: reason => this.#failed(reason),
      ready: ready => this.#relay?.secondReady(ready),
    });
  }

  start(): void {
    try {
      this.#options.traffic.options.poll.add(this.#client, events => this.#clientReady(events));
    } catch (error) {
      this.#failed(errorText(error));
      return;
    }
    this.#dial.start();
  }

  /** If its endpoint left the plan, the connection goes on as long as the endpoint answers. */
  endpointsGone(): void {
    if (this.#isLimited || !this.#endpoint?.backend.gone) return;
    this.#isLimited = true;
    setUserTimeout(this.#endpoint.fd, UNCONFIRMED_MS);
  }

  /** Ends it at once. */
  break(): void {
    if (this.#relay) this.#relay.break();
    else {
      this.#dial.cancel();
      this.#refuse();
    }
  }

  #connected(backend: Backend, fd: number, events: number): void {
    this.#endpoint = { backend, fd };
    backend.active += 1;
    this.#events.connected();
    this.#relay = new Relay(this.#options.traffic, this.#client, fd, {
      forward: bytes => this.#events.forward(bytes),
      backward: bytes => this.#events.backward(bytes),
      closed: () => this.#finish(),
    });
    this.#relay.start(this.#early, events);
  }

  #clientReady(events: number): void {
    if (this.#relay) this.#relay.firstReady(events);
    // A client that only ended its side may still wait for an answer; one that broke does not.
    else if (events & (Ready.ERROR | Ready.HANGUP)) this.break();
    else this.#early |= events;
  }

  #failed(reason: string): void {
    this.#events.failed(reason);
    this.#refuse();
  }

  #refuse(): void {
    if (this.#closed) return;
    this.#options.traffic.options.poll.remove(this.#client);
    resetStream(this.#client);
    this.#finish();
  }

  #finish(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#endpoint) this.#endpoint.backend.active -= 1;
    this.#events.closed(this);
  }
}
