import { closeRaw, Ready, resetStream, setUserTimeout } from '../../kernel/sockets/index.ts';
import { errorText } from '../../lib/error-text.ts';
import type { Backend } from './backend.ts';
import { Dial, type DialOptions } from './dial.ts';
import { Relay } from './relay.ts';

/** How long an endpoint that left the plan may confirm nothing. Its machine may be gone without closing connections. */
const UNCONFIRMED_MS = 60_000;

export interface ConnectionEvents {
  connected(): void;
  sentToEndpoint(bytes: number): void;
  sentToClient(bytes: number): void;
  attemptFailed(backend: Backend, reason: string): void;
  failed(reason: string): void;
  closed(connection: TcpConnection): void;
}

/** A client's connection, from its acceptance until both sides have ended. */
export class TcpConnection {
  readonly #options: DialOptions;
  readonly #client: number;
  readonly #events: ConnectionEvents;
  readonly #dial: Dial;
  #relay: Relay | undefined;
  #endpoint: { readonly backend: Backend; readonly fd: number } | undefined;
  /** Events of the client before there was an endpoint. */
  #earlyEvents = 0;
  #hasTimeout = false;
  #closed = false;

  /** Owns the client's descriptor. What the client sends waits in the kernel until an endpoint is connected. */
  constructor(options: DialOptions, client: number, events: ConnectionEvents) {
    this.#options = options;
    this.#client = client;
    this.#events = events;
    this.#dial = new Dial(options, {
      connected: (backend, fd, ready) => this.#connected(backend, fd, ready),
      attemptFailed: (backend, reason) => events.attemptFailed(backend, reason),
      failed: reason => this.#fail(reason),
      ready: ready => this.#relay?.endpointReady(ready),
    });
  }

  /** `namespace/name:port` of the service port that the client called. */
  get servicePort(): string {
    return this.#options.servicePort;
  }

  /** `10.0.0.1:80`. Undefined while no endpoint is connected. */
  get endpoint(): string | undefined {
    return this.#endpoint?.backend.text;
  }

  start(): void {
    try {
      this.#options.resources.options.poll.add(this.#client, events => this.#clientReady(events));
    } catch (error) {
      this.#fail(errorText(error));
      return;
    }
    this.#dial.start();
  }

  /** Endpoints left the plan. If one of them is the endpoint of this connection, it goes on as long as that answers. */
  endpointsGone(): void {
    if (this.#hasTimeout || !this.#endpoint?.backend.isGone) return;
    this.#hasTimeout = true;
    setUserTimeout(this.#endpoint.fd, UNCONFIRMED_MS);
  }

  /** Resets both sides. */
  break(): void {
    if (this.#relay) this.#relay.break();
    else this.#endDial(resetStream);
  }

  /** Closes both sides without a reset, whatever they still wait for. */
  end(): void {
    if (this.#relay) this.#relay.end();
    else this.#endDial(closeRaw);
  }

  #connected(backend: Backend, fd: number, events: number): void {
    this.#endpoint = { backend, fd };
    backend.connections += 1;
    this.#events.connected();
    this.#relay = new Relay(this.#options.resources, this.#client, fd, {
      sentToEndpoint: bytes => {
        backend.bytes += bytes;
        this.#events.sentToEndpoint(bytes);
      },
      sentToClient: bytes => {
        backend.bytes += bytes;
        this.#events.sentToClient(bytes);
      },
      closed: () => this.#finish(),
    });
    this.#relay.start(this.#earlyEvents, events);
  }

  #clientReady(events: number): void {
    if (this.#relay) this.#relay.clientReady(events);
    // A client that only ended its side may still wait for an answer. A client that broke off does not.
    else if (events & (Ready.ERROR | Ready.HANGUP)) this.break();
    else this.#earlyEvents |= events;
  }

  #fail(reason: string): void {
    this.#events.failed(reason);
    this.#closeClient(resetStream);
  }

  #endDial(close: (fd: number) => void): void {
    this.#dial.cancel();
    this.#closeClient(close);
  }

  #closeClient(close: (fd: number) => void): void {
    if (this.#closed) return;
    this.#options.resources.options.poll.remove(this.#client);
    close(this.#client);
    this.#finish();
  }

  #finish(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#endpoint) this.#endpoint.backend.active -= 1;
    this.#events.closed(this);
  }
}
