import { BackOff } from '../lib/back-off.ts';
import { type Clock, systemClock, type Timer } from '../lib/clock.ts';
import { asError } from '../lib/error-text.ts';
import { SocketInUseError, UnixServer, type UnixServerOptions } from './unix-socket.ts';

/** A process that tidies up may delete the file of the socket. */
const CHECK_MS = 30_000;

export interface SocketKeeperOptions extends Omit<UnixServerOptions, 'onError'> {
  readonly opened: () => void;
  /** Another process listens at the socket. Called once in a row. */
  readonly inUse: () => void;
  /** The socket could not be opened. Called again only if the reason changed. */
  readonly failed: (error: Error) => void;
  readonly clock?: Clock | undefined;
}

/** Keeps a server at a Unix socket open. Retries until it can listen, and again if its file disappears. */
export class SocketKeeper {
  readonly #options: SocketKeeperOptions;
  readonly #clock: Clock;
  readonly #backOff: BackOff;
  #server: UnixServer | undefined;
  #timer: Timer | undefined;
  #isClosed = false;
  #lastReason = '';

  constructor(options: SocketKeeperOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#backOff = new BackOff({ firstMs: 1000, maxMs: 60_000, clock: this.#clock });
  }

  /** Resolves after the first attempt, whether it succeeded or failed. Never rejects. */
  async start(): Promise<void> {
    try {
      const server = await UnixServer.open({ ...this.#options, onError: error => this.#retry(error) });
      if (this.#isClosed) return server.close();
      this.#server = server;
      this.#backOff.reset();
      this.#lastReason = '';
      this.#options.opened();
      this.#checkLater();
    } catch (error) {
      this.#retry(asError(error));
    }
  }

  get isOpen(): boolean {
    return this.#server !== undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#server?.close();
    this.#server = undefined;
  }

  #checkLater(): void {
    this.#timer = this.#clock.setTimer(CHECK_MS, () => {
      if (this.#server?.isReachable) return this.#checkLater();
      this.#server?.close();
      this.#server = undefined;
      void this.start();
    });
  }

  #retry(error: Error): void {
    if (this.#isClosed) return;
    this.#server = undefined;
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimer(this.#backOff.fail(), () => void this.start());
    if (error.message === this.#lastReason) return;
    this.#lastReason = error.message;
    if (error instanceof SocketInUseError) this.#options.inUse();
    else this.#options.failed(error);
  }
}
