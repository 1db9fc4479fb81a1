import type { NetworkNamespace } from '../kernel/netns.ts';
import { type RouteEvent, RouteMonitor, RouteSocket } from '../kernel/rtnetlink/index.ts';
import { BackOff } from '../lib/back-off.ts';
import { type Clock, systemClock, type Timer } from '../lib/clock.ts';
import { asError } from '../lib/error-text.ts';
import type { Ip } from '../net/index.ts';

export interface NodeAddressesOptions {
  /** A link whose addresses do not count, because a mode manages them. */
  readonly exceptLink?: string | undefined;
  /** The excepted link changed, or one of its addresses did. */
  exceptLinkChanged?(event: RouteEvent): void;
  readonly clock?: Clock | undefined;
  /** The size of the buffer for notifications, in bytes. Tests make it so small that the kernel drops some. */
  readonly receiveBuffer?: number | undefined;
}

/** The pauses between attempts to listen again. */
const BACK_OFF = { firstMs: 1000, maxMs: 60_000 };

/** This machine's addresses. The kernel notifies the process when an address is added or removed. */
export class NodeAddresses {
  readonly #namespace: NetworkNamespace | undefined;
  readonly #onChange: (ip?: Ip) => void;
  readonly #onError: (error: Error) => void;
  readonly #options: NodeAddressesOptions;
  readonly #clock: Clock;
  readonly #socket: RouteSocket;
  #monitor: RouteMonitor | undefined;
  readonly #backOff = new BackOff(BACK_OFF);
  #timer: Timer | undefined;
  /** The index of the excepted link. */
  #except: number | undefined;

  /**
   * `onChange` receives the address that was added or removed, or undefined if any address may have changed. `onError`
   * receives the error if listening fails. The process then listens again after a pause.
   */
  constructor(
    namespace: NetworkNamespace | undefined,
    onChange: (ip?: Ip) => void,
    onError: (error: Error) => void,
    options: NodeAddressesOptions = {},
  ) {
    this.#namespace = namespace;
    this.#onChange = onChange;
    this.#onError = onError;
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
    const { receiveBuffer } = this.#options;
    const handlers = {
      event: (event: RouteEvent) => {
        this.#handle(event);
        this.#backOff.reset();
      },
      overrun: () => {
        this.#findExceptLink();
        this.#onChange();
      },
      failed: (error: Error) => this.#listenLater(error),
    };
    this.#monitor = RouteMonitor.open(handlers, { namespace: this.#namespace, receiveBuffer });

    this.#findExceptLink();
  }

  #findExceptLink(): void {
    const { exceptLink } = this.#options;
    if (exceptLink !== undefined) this.#except = this.#socket.link(exceptLink)?.index;
  }

  #listenLater(error: unknown): void {
    this.#onError(asError(error));
    this.#monitor?.close();
    this.#monitor = undefined;
    this.#timer = this.#clock.setTimer(this.#backOff.fail(), () => this.#listenAgain());
  }

  #listenAgain(): void {
    try {
      this.#listen();
      // Any address may have changed during the pause.
      this.#onChange();
    } catch (error) {
      this.#listenLater(error);
    }
  }

  #handle(event: RouteEvent): void {
    // The link may have been created again, with another index.
    if (event.kind === 'link' && event.link.name === this.#options.exceptLink) this.#except = event.link.index;
    if (this.#isOfExceptLink(event)) this.#options.exceptLinkChanged?.(event);
    else if (event.kind === 'address') this.#onChange(event.address.ip);
  }

  #isOfExceptLink(event: RouteEvent): boolean {
    if (event.kind === 'address') return event.address.index === this.#except;
    return event.link.name === this.#options.exceptLink;
  }
}
