import { BackOff } from '../../../lib/back-off.ts';
import type { Clock, Timer } from '../../../lib/clock.ts';
import { type Family, joinHostPort } from '../../../net/index.ts';
import { type LocalhostListener, localhostNodePort, type ServicePortPlan } from '../../../plan/index.ts';
import type { ModeEvents } from '../../mode.ts';
import type { PlanBook, PlanChange } from '../../plan-book.ts';
import type { KernelEntry } from '../../read-back.ts';
import type { RelayResources } from '../../relay/index.ts';
import { portCauseOf } from '../../set-aside.ts';
import { LOCALHOST, LocalhostPort } from './localhost-port.ts';

export interface LocalhostListenersOptions {
  readonly family: Family;
  readonly resources: RelayResources;
  readonly clock: Clock;
  readonly book: PlanBook;
  readonly events: Pick<ModeEvents, 'listener'>;
  /** Runs work while no write runs. */
  turn(work: () => Promise<void>): Promise<void>;
}

/** What a writer does with the listeners of its family. */
export type LocalhostSync = Pick<LocalhostListeners, 'begin' | 'take' | 'sync' | 'entries' | 'counts'>;

export interface ListenerCounts {
  /** How many are open. */
  readonly listeners: number;
  /** How often the process could not listen at a port, retries included. */
  readonly failures: number;
}

interface Wanted {
  readonly id: string;
  readonly plan: ServicePortPlan;
  readonly listener: LocalhostListener;
}

/** A process that ends gives its ports up soon. Another one may keep them for good. */
const RETRY = { firstMs: 1000, maxMs: 30_000 };

/** The node ports of one family at which this process listens on loopback. They follow the committed plans. */
export class LocalhostListeners {
  readonly #options: LocalhostListenersOptions;
  /** By protocol and port. */
  readonly #wanted = new Map<string, Wanted>();
  readonly #open = new Map<string, LocalhostPort>();
  /** The ports at which the process could not listen, with the ids of their service ports. */
  readonly #failed = new Map<string, string>();
  readonly #changed = new Set<string>();
  #isServed = false;
  #failures = 0;
  readonly #backOff = new BackOff(RETRY);
  #retry: Timer | undefined;
  #closed = false;

  constructor(options: LocalhostListenersOptions) {
    this.#options = options;
  }

  /** Undefined while the operator does not list loopback. */
  get counts(): ListenerCounts | undefined {
    return this.#isServed ? { listeners: this.#open.size, failures: this.#failures } : undefined;
  }

  /** A full write begins, which commits all plans again. `isServed`: the operator lists loopback. */
  begin(isServed: boolean): void {
    this.#isServed = isServed;
    for (const key of this.#wanted.keys()) this.#changed.add(key);
    this.#wanted.clear();
  }

  /** The kernel has these changes. The next call of `sync` follows them. */
  take(changes: readonly PlanChange[]): void {
    for (const { id, from } of changes) {
      const key = from && this.#keyOf(from);
      if (key === undefined || this.#wanted.get(key)?.id !== id) continue;
      this.#wanted.delete(key);
      this.#changed.add(key);
    }
    for (const { id, to } of changes) {
      const listener = to && this.#listenerOf(to);
      if (!to || !listener) continue;
      this.#wanted.set(keyOf(listener), { id, plan: to, listener });
      this.#changed.add(keyOf(listener));
    }
  }

  /** Closes what is not wanted any more, opens what is missing, and tries again what failed before. */
  sync(): void {
    if (this.#closed) return;
    const keys = new Set([...this.#changed, ...this.#failed.keys()]);
    this.#changed.clear();
    for (const key of keys) if (!this.#wanted.has(key)) this.#remove(key);
    for (const key of keys) {
      const wanted = this.#wanted.get(key);
      if (wanted) this.#listen(key, wanted);
    }
    this.#retryLater();
  }

  /** What listens for this plan, beside what should. */
  entries(plan: ServicePortPlan): KernelEntry[] {
    const { family } = this.#options;
    const {
      port: { protocol },
      frontends,
    } = plan;
    const nodePort = frontends.find(({ kind }) => kind === 'NodePort')?.port;
    if (nodePort === undefined) return [];
    const socket = `${protocol} ${joinHostPort(LOCALHOST[family], nodePort)}`;
    const wanted = this.#listenerOf(plan) && socket;
    const found = this.#open.has(`${protocol}/${nodePort}`) ? socket : undefined;
    return wanted === undefined && found === undefined
      ? []
      : [{ kind: 'listener', place: 'this process', wanted, found }];
  }

  close(): void {
    this.#closed = true;
    this.#retry?.cancel();
    for (const port of this.#open.values()) port.close();
    this.#open.clear();
  }

  #keyOf(plan: ServicePortPlan): string | undefined {
    const listener = this.#listenerOf(plan);
    return listener && keyOf(listener);
  }

  #listenerOf(plan: ServicePortPlan): LocalhostListener | undefined {
    const nodePort = localhostNodePort(plan, this.#isServed);
    return nodePort?.kind === 'listen' ? nodePort : undefined;
  }

  #remove(key: string): void {
    this.#forgetFailure(key);
    const port = this.#open.get(key);
    if (!port) return;
    port.close();
    this.#open.delete(key);
    const { events, family } = this.#options;
    events.listener?.(family, { kind: 'closed', protocol: port.protocol, port: port.number });
  }

  #listen(key: string, { id, plan, listener }: Wanted): void {
    const { resources, family, events } = this.#options;
    // Another service port has the node port now.
    if (this.#failed.get(key) !== id) this.#forgetFailure(key);
    const open = this.#open.get(key);
    if (open) {
      open.update(listener, plan);
      return;
    }
    try {
      this.#open.set(key, new LocalhostPort(resources, family, listener, plan));
    } catch (error) {
      this.#fail(key, id, error);
      return;
    }
    this.#forgetFailure(key);
    const { protocol, port, endpoints } = listener;
    events.listener?.(family, { kind: 'opened', protocol, port, endpoints: endpoints.length });
  }

  /** Concerns this port only. The rules of the service port stay as they are. */
  #fail(key: string, id: string, error: unknown): void {
    const { book } = this.#options;
    this.#failures++;
    this.#failed.set(key, id);
    // A service port that the kernel refuses has a graver cause already.
    if (!book.isRefused(id)) book.postpone(id, portCauseOf(error));
  }

  #forgetFailure(key: string): void {
    const id = this.#failed.get(key);
    if (id === undefined) return;
    this.#failed.delete(key);
    if (!this.#options.book.isRefused(id)) this.#options.book.clear(id);
  }

  /** Another program may give the port up without any change of a Service. */
  #retryLater(): void {
    if (this.#failed.size === 0) {
      this.#backOff.reset();
      return;
    }
    this.#retry ??= this.#options.clock.setTimer(this.#backOff.fail(), () => {
      this.#retry = undefined;
      void this.#options.turn(async () => this.#retryFailed());
    });
  }

  /** Closes nothing: after a full write that failed half way, the wanted listeners are not known again yet. */
  #retryFailed(): void {
    if (this.#closed) return;
    for (const key of [...this.#failed.keys()]) {
      const wanted = this.#wanted.get(key);
      if (wanted) this.#listen(key, wanted);
    }
    this.#retryLater();
  }
}

function keyOf({ protocol, port }: LocalhostListener): string {
  return `${protocol}/${port}`;
}
