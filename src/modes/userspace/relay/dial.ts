import type { TrafficPolicy } from '../../../api/index.ts';
import { KernelError } from '../../../kernel/errors.ts';
import { closeRaw, connectResult, connectStream } from '../../../kernel/sockets/index.ts';
import type { Timer } from '../../../lib/clock.ts';
import type { Family } from '../../../net/index.ts';
import type { Backend, Balancer } from './balancer.ts';
import type { Traffic } from './relay-resources.ts';

/** How long each attempt may take, and how many there are. */
const TIMEOUTS_MS = [250, 500, 1000, 2000];
const OUT_OF_DESCRIPTORS = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'];

export interface DialOptions {
  readonly traffic: Traffic;
  readonly family: Family;
  readonly balancer: Balancer;
  readonly policy: TrafficPolicy;
  /** For affinity. */
  readonly client: string | undefined;
}

export interface DialEvents {
  /** The descriptor is watched; these are its first events, and `ready` gets those that follow. */
  connected(backend: Backend, fd: number, events: number): void;
  /** An endpoint did not take the connection; another is tried if there is one. */
  failedOnce(backend: Backend, reason: string): void;
  /** Nobody took it. */
  failed(reason: string): void;
  /** Events of the descriptor once it is connected. */
  ready(events: number): void;
}

/** Connects to an endpoint, and to another if it does not answer. */
export class Dial {
  readonly #options: DialOptions;
  readonly #events: DialEvents;
  /** Those that refused. One that did not answer may be asked again, with more patience. */
  readonly #refused = new Set<Backend>();
  #attempt = 0;
  #fd: number | undefined;
  #timer: Timer | undefined;
  #connected = false;

  constructor(options: DialOptions, events: DialEvents) {
    this.#options = options;
    this.#events = events;
  }

  start(): void {
    this.#next('no endpoint');
  }

  /** Gives up; nothing is told any more. */
  cancel(): void {
    this.#drop();
  }

  #next(reason: string): void {
    const { balancer, policy, client } = this.#options;
    const patience = TIMEOUTS_MS[this.#attempt++];
    const failure = this.#attempt > 1 ? { refused: this.#refused } : undefined;
    const backend = patience === undefined ? undefined : balancer.pick(policy, client, failure);
    if (!backend || patience === undefined) this.#events.failed(reason);
    else this.#connect(backend, patience);
  }

  #connect(backend: Backend, patience: number): void {
    const { namespace, poll, clock, stream } = this.#options.traffic.options;
    try {
      const fd = connectStream(namespace, this.#options.family, backend.address, stream);
      this.#fd = fd;
      poll.add(fd, events => (this.#connected ? this.#events.ready(events) : this.#decide(backend, fd, events)));
    } catch (error) {
      this.#notBegun(backend, error);
      return;
    }
    const attempt = this.#attempt;
    // After a turn of the poll: where this process was held up, the answer may be there and not read yet.
    this.#timer = clock.setTimer(patience, () => poll.defer(() => this.#giveUp(backend, attempt)));
  }

  #giveUp(backend: Backend, attempt: number): void {
    if (this.#connected || this.#fd === undefined || attempt !== this.#attempt) return;
    this.#options.balancer.silent(backend);
    this.#failedOnce(backend, 'no answer');
  }

  /** That we are out of descriptors is not the endpoint's fault, and another would not help. */
  #notBegun(backend: Backend, error: unknown): void {
    const errno = error instanceof KernelError ? (error.errno ?? 'failed') : String(error);
    this.#drop();
    if (OUT_OF_DESCRIPTORS.includes(errno)) this.#events.failed(errno);
    else this.#refusal(backend, errno);
  }

  #decide(backend: Backend, fd: number, events: number): void {
    const reason = connectResult(fd);
    if (reason !== undefined) {
      this.#refusal(backend, reason);
      return;
    }
    this.#connected = true;
    this.#timer?.cancel();
    this.#options.balancer.answered(backend);
    this.#events.connected(backend, fd, events);
  }

  #refusal(backend: Backend, reason: string): void {
    this.#refused.add(backend);
    this.#options.balancer.eject(backend);
    this.#failedOnce(backend, reason);
  }

  #failedOnce(backend: Backend, reason: string): void {
    this.#drop();
    this.#events.failedOnce(backend, reason);
    this.#next(`${backend.text}: ${reason}`);
  }

  #drop(): void {
    this.#timer?.cancel();
    if (this.#fd === undefined || this.#connected) return;
    this.#options.traffic.options.poll.remove(this.#fd);
    closeRaw(this.#fd);
    this.#fd = undefined;
  }
}
