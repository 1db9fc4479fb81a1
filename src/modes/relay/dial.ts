import type { TrafficPolicy } from '../../api/index.ts';
import { KernelError } from '../../kernel/errors.ts';
import { closeRaw, connectResult, connectStream } from '../../kernel/sockets/index.ts';
import type { Timer } from '../../lib/clock.ts';
import type { Family } from '../../net/index.ts';
import type { Backend } from './backend.ts';
import type { Balancer } from './balancer.ts';
import type { RelayResources } from './relay-resources.ts';

/** The timeout of each attempt. There are no more attempts than these. */
const TIMEOUTS_MS = [250, 500, 1000, 2000];
const OUT_OF_DESCRIPTORS = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'];

export interface DialOptions {
  /** `namespace/name:port` */
  readonly servicePort: string;
  readonly resources: RelayResources;
  readonly family: Family;
  readonly balancer: Balancer;
  readonly policy: TrafficPolicy;
  /** The key of the client; undefined without affinity. */
  readonly client: string | undefined;
  /** Of the client, for consistent hashes. */
  readonly hash: number;
}

export interface DialEvents {
  /**
   * The poll watches the descriptor, and the backend counts the connection. `events` are its first events; `ready`
   * receives the later ones.
   */
  connected(backend: Backend, fd: number, events: number): void;
  /** An endpoint did not take the connection. The dial tries another one if there is one. */
  attemptFailed(backend: Backend, reason: string): void;
  /** No endpoint took the connection. */
  failed(reason: string): void;
  /** Events of the connected descriptor. */
  ready(events: number): void;
}

/** Connects to an endpoint, and to another one if the first does not answer. */
export class Dial {
  readonly #options: DialOptions;
  readonly #events: DialEvents;
  /** Endpoints that refused. The dial may try an endpoint again that did not answer in time. */
  readonly #refused = new Set<Backend>();
  #silent: Set<Backend> | undefined;
  #attempt = 0;
  #current: { readonly backend: Backend; readonly fd: number } | undefined;
  #timer: Timer | undefined;
  #isConnected = false;

  constructor(options: DialOptions, events: DialEvents) {
    this.#options = options;
    this.#events = events;
  }

  start(): void {
    this.#tryNext('no endpoint');
  }

  /** Gives up. No event follows. */
  cancel(): void {
    this.#closeAttempt();
  }

  #tryNext(lastFailure: string): void {
    const { balancer, policy, client, hash } = this.#options;
    const timeoutMs = TIMEOUTS_MS[this.#attempt++];
    const failed = this.#attempt > 1 ? { refused: this.#refused, silent: this.#silent } : undefined;
    const backend = timeoutMs === undefined ? undefined : balancer.pick(policy, client, failed, hash);
    if (!backend || timeoutMs === undefined) this.#events.failed(lastFailure);
    else this.#connect(backend, timeoutMs);
  }

  #connect(backend: Backend, timeoutMs: number): void {
    const { namespace, poll, clock, stream } = this.#options.resources.options;
    try {
      const fd = connectStream(namespace, this.#options.family, backend.address, stream);
      this.#current = { backend, fd };
      // Least connections must see attempts. Otherwise all clients that come at once would get the same endpoint.
      backend.active += 1;
      poll.add(fd, events => (this.#isConnected ? this.#events.ready(events) : this.#decide(backend, fd, events)));
    } catch (error) {
      this.#couldNotStart(backend, error);
      return;
    }
    const attempt = this.#attempt;
    // Deferred: if this process was held up, the poll may have an answer that was not handled yet.
    this.#timer = clock.setTimer(timeoutMs, () => poll.defer(() => this.#timeOut(backend, attempt)));
  }

  #timeOut(backend: Backend, attempt: number): void {
    if (this.#isConnected || !this.#current || attempt !== this.#attempt) return;
    this.#silent ??= new Set();
    this.#silent.add(backend);
    this.#options.balancer.noteTimeout(backend);
    this.#failAttempt(backend, 'no answer');
  }

  /** If this process has no descriptor left, the endpoint is not the reason, and another endpoint does not help. */
  #couldNotStart(backend: Backend, error: unknown): void {
    const errno = error instanceof KernelError ? (error.errno ?? 'failed') : String(error);
    this.#closeAttempt();
    if (OUT_OF_DESCRIPTORS.includes(errno)) this.#events.failed(errno);
    else this.#refuse(backend, errno);
  }

  #decide(backend: Backend, fd: number, events: number): void {
    const failure = connectResult(fd);
    if (failure !== undefined) {
      this.#refuse(backend, failure);
      return;
    }
    this.#isConnected = true;
    this.#timer?.cancel();
    this.#options.balancer.noteAnswer(backend);
    this.#events.connected(backend, fd, events);
  }

  #refuse(backend: Backend, reason: string): void {
    this.#refused.add(backend);
    this.#options.balancer.eject(backend);
    this.#failAttempt(backend, reason);
  }

  #failAttempt(backend: Backend, reason: string): void {
    this.#closeAttempt();
    this.#events.attemptFailed(backend, reason);
    this.#tryNext(`${backend.text}: ${reason}`);
  }

  #closeAttempt(): void {
    this.#timer?.cancel();
    if (!this.#current || this.#isConnected) return;
    const { backend, fd } = this.#current;
    this.#current = undefined;
    backend.active -= 1;
    this.#options.resources.options.poll.remove(fd);
    closeRaw(fd);
  }
}
