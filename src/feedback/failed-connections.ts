import { ConntrackMonitor, type FlowEventHandlers } from '../kernel/conntrack/index.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import type { Clock, Timer } from '../lib/clock.ts';
import { NONE } from '../lib/none.ts';
import { Attempts, type FailureCause } from './attempts.ts';
import { endpointKey } from './open-connections.ts';
import type { WatchedPort } from './watched-port.ts';

/** An endpoint is left out, because new connections to it failed. */
export interface Ejection {
  readonly port: WatchedPort;
  /** The text of the endpoint. */
  readonly endpoint: string;
  /** How the last connection failed. */
  readonly cause: FailureCause;
  readonly milliseconds: number;
}

export interface FailedConnectionsOptions {
  readonly clock: Clock;
  readonly namespace?: NetworkNamespace | undefined;
  readonly listen?: ((handlers: FlowEventHandlers) => { close(): void }) | undefined;
  ejected(ejection: Ejection): void;
  /** The kernel dropped events. The proxy goes on with those that follow. */
  overrun(): void;
  onError(error: unknown): void;
}

const PAUSE_AFTER_FAILURE_MS = 30_000;
const CHECK_MS = 1000;

/** Follows new connections to the endpoints of service ports that ask for ejection. */
export class FailedConnections {
  readonly #options: FailedConnectionsOptions;
  readonly #attempts: Attempts;
  /** The endpoints of service ports, by the key of the endpoint. Several service ports may have the same endpoint. */
  readonly #endpoints = new Map<string, Map<WatchedPort, string>>();
  /** The keys of each service port. */
  readonly #keys = new Map<WatchedPort, readonly string[]>();
  #monitor: { close(): void } | undefined;
  #retry: Timer | undefined;
  #check: Timer | undefined;

  constructor(options: FailedConnectionsOptions) {
    this.#options = options;
    this.#attempts = new Attempts({
      succeeded: key => this.#succeeded(key),
      failed: (key, cause) => this.#failed(key, cause),
    });
  }

  /** The endpoints of a service port changed, or what its Service asks for. */
  changed(port: WatchedPort): void {
    this.forget(port);
    if (port.ejectAfter === 0) return;
    const keys: string[] = [];
    for (const { text } of port.endpoints) {
      const key = endpointKey(port.protocol, text);
      const ports = this.#endpoints.get(key) ?? new Map<WatchedPort, string>();
      this.#endpoints.set(key, ports.set(port, text));
      keys.push(key);
    }
    this.#keys.set(port, keys);
  }

  forget(port: WatchedPort): void {
    for (const key of this.#keys.get(port) ?? NONE) {
      const ports = this.#endpoints.get(key);
      ports?.delete(port);
      if (ports?.size === 0) this.#endpoints.delete(key);
    }
    this.#keys.delete(port);
  }

  /** Called after all changes. Subscribes to events if a service port needs them, or ends the subscription. */
  update(): void {
    if (this.#keys.size === 0) this.close();
    else if (!this.#monitor && !this.#retry) this.#listen();
  }

  close(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
    this.#check?.cancel();
    this.#check = undefined;
    this.#monitor?.close();
    this.#monitor = undefined;
    this.#attempts.clear();
  }

  #listen(): void {
    const { namespace, listen, clock, overrun } = this.#options;
    const handlers: FlowEventHandlers = {
      event: event => {
        this.#attempts.event(event, key => this.#endpoints.has(key), clock.elapsed());
        if (!this.#check && this.#attempts.isWaiting) this.#checkLater();
      },
      overrun: () => {
        this.#attempts.clear();
        overrun();
      },
      failed: error => this.#listenLater(error),
    };
    try {
      this.#monitor = listen?.(handlers) ?? ConntrackMonitor.open(handlers, { namespace });
    } catch (error) {
      this.#listenLater(error);
    }
  }

  #listenLater(error: unknown): void {
    this.close();
    this.#options.onError(error);
    this.#retry = this.#options.clock.setTimer(PAUSE_AFTER_FAILURE_MS, () => {
      this.#retry = undefined;
      this.#listen();
    });
  }

  #checkLater(): void {
    const { clock } = this.#options;
    this.#check = clock.setTimer(CHECK_MS, () => {
      this.#check = undefined;
      this.#attempts.expire(clock.elapsed());
      if (this.#attempts.isWaiting) this.#checkLater();
    });
  }

  #succeeded(key: string): void {
    for (const [port, endpoint] of this.#endpoints.get(key) ?? NONE) port.ejections.succeeded(endpoint);
  }

  #failed(key: string, cause: FailureCause): void {
    for (const [port, endpoint] of this.#endpoints.get(key) ?? NONE) {
      const milliseconds = port.ejections.failed(endpoint, this.#options.clock.elapsed());
      if (milliseconds !== undefined) this.#options.ejected({ port, endpoint, cause, milliseconds });
    }
  }
}
