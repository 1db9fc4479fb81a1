import type { NetworkNamespace } from '../kernel/netns.ts';
import { type RouteEvent, RouteMonitor, RouteSocket } from '../kernel/rtnetlink/index.ts';
import { type Clock, systemClock, type Timer } from '../lib/clock.ts';
import type { Ip } from '../net/index.ts';

export interface NodeAddressesOptions {
  /** A link whose addresses do not count, for a mode gives them to it. */
  readonly exceptLink?: string | undefined;
  /** Something happened to that link. */
  exceptLinkChanged?(event: RouteEvent): void;
  readonly clock?: Clock | undefined;
}

/** How long after a failure the kernel's notifications are asked for again; twice as long after each further one. */
const SHORTEST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/** This machine's addresses, kept up to date by the kernel's notifications, which say which one came or went. */
export class NodeAddresses {
  readonly #namespace: NetworkNamespace | undefined;
  readonly #changed: (ip?: Ip) => void;
  readonly #failed: (error: Error) => void;
  readonly #options: NodeAddressesOptions;
  readonly #clock: Clock;
  readonly #socket: RouteSocket;
  #monitor: RouteMonitor | undefined;
  #pauseMs = SHORTEST_PAUSE_MS;
  #timer: Timer | undefined;
  /** The index of the link that does not count. */
  #except: number | undefined;

  /** `changed` hears which address came or went; nothing if any may have. `failed` hears of what is tried again later. */
  constructor(
    namespace: NetworkNamespace | undefined,
    changed: (ip?: Ip) => void,
    failed: (error: Error) => void,
    options: NodeAddressesOptions = {},
  ) {
    this.#namespace = namespace;
    this.#changed = changed;
    this.#failed = failed;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#socket = RouteSocket.open({ namespace });
    try {
      this.#listen();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  list(): readonly Ip[] {
    const addresses = this.#socket.addresses({});
    const except = this.#options.exceptLink && this.#socket.link(this.#options.exceptLink)?.index;
    return addresses.filter(({ index }) => index !== except).map(({ ip }) => ip);
  }

  close(): void {
    this.#timer?.cancel();
    this.#monitor?.close();
    this.#socket.close();
  }

  #listen(): void {
    const handlers = {
      event: (event: RouteEvent) => {
        this.#heard(event);
        this.#pauseMs = SHORTEST_PAUSE_MS;
      },
      overrun: () => this.#changed(),
      failed: (error: Error) => this.#listenLater(error),
    };
    this.#monitor = RouteMonitor.open(handlers, { namespace: this.#namespace });
    const { exceptLink } = this.#options;
    if (exceptLink !== undefined) this.#except = this.#socket.link(exceptLink)?.index;
  }

  #listenLater(error: unknown): void {
    this.#failed(error instanceof Error ? error : new Error(String(error)));
    this.#monitor?.close();
    this.#monitor = undefined;
    this.#timer = this.#clock.setTimer(this.#pauseMs, () => this.#listenAgain());
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
  }

  #listenAgain(): void {
    try {
      this.#listen();
      // Nobody knows what happened while nobody listened.
      this.#changed();
    } catch (error) {
      this.#listenLater(error);
    }
  }

  #heard(event: RouteEvent): void {
    if (this.#isExcept(event)) this.#options.exceptLinkChanged?.(event);
    else if (event.kind === 'address') this.#changed(event.address.ip);
  }

  #isExcept(event: RouteEvent): boolean {
    if (event.kind === 'address') return event.address.index === this.#except;
    if (event.link.name !== this.#options.exceptLink) return false;
    this.#except = event.link.index;
    return true;
  }
}
