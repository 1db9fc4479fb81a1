import type { Node } from '../../api/index.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Family } from '../../net/index.ts';

/** The cluster autoscaler's mark on a node that it is about to remove. */
const TO_BE_DELETED = 'ToBeDeletedByClusterAutoscaler';

export interface ProxyHealthOptions {
  /** How long work may wait: twice the sync period. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

export interface FamilyHealth {
  /** Undefined before the first sync that succeeded. */
  readonly lastUpdated: number | undefined;
  /** No work has waited for longer than the timeout. */
  readonly alive: boolean;
  /** Alive, and the kernel has rules of ours. */
  readonly healthy: boolean;
  /** Why it is not healthy, for people. */
  readonly reason: string | undefined;
  /** Why the last sync failed; undefined if it did not. It makes nothing unhealthy before its work is late. */
  readonly error: string | undefined;
}

interface FamilyState {
  lastUpdated: number | undefined;
  /** Since when the oldest work waits that no sync has done, by a clock that nobody sets. */
  pendingSince: number | undefined;
  running: boolean;
  /** When work came that the running sync may not have seen. */
  queuedMeanwhile: number | undefined;
  error: string | undefined;
}

/** Whether the kernel follows the objects, and whether the node may take traffic of load balancers. */
export class ProxyHealth {
  readonly #clock: Clock;
  #timeoutMs: number;
  #families: ReadonlyMap<Family, FamilyState> | undefined;
  #node: Node | undefined;

  constructor({ timeoutMs, clock }: ProxyHealthOptions) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** From now on it is known which families are proxied. Before, nothing is healthy, and nothing is late. */
  started(families: readonly Family[]): void {
    this.#families = new Map(families.map(family => [family, newState()]));
  }

  setTimeoutMs(timeoutMs: number): void {
    this.#timeoutMs = timeoutMs;
  }

  get hasStarted(): boolean {
    return this.#families !== undefined;
  }

  /** There is work: a change, or the first sync now that all objects are known. */
  queuedUpdate(family: Family): void {
    this.#change(family, (state, now) => {
      state.pendingSince ??= now;
      if (state.running) state.queuedMeanwhile ??= now;
    });
  }

  syncStarted(family: Family): void {
    this.#change(family, (state, now) => {
      state.running = true;
      state.queuedMeanwhile = undefined;
      state.pendingSince ??= now;
    });
  }

  /** A sync succeeded. What was queued while it ran stays pending. */
  updated(family: Family): void {
    this.#change(family, state => {
      state.pendingSince = state.running ? state.queuedMeanwhile : undefined;
      state.running = false;
      state.lastUpdated = this.#clock.now();
      state.error = undefined;
    });
  }

  /** A sync failed: its work stays pending, since when it was. */
  failed(family: Family, reason: string): void {
    this.#change(family, (state, now) => {
      state.running = false;
      state.pendingSince ??= now;
      state.error = reason;
    });
  }

  setNode(node: Node | undefined): void {
    this.#node = node;
  }

  get nodeEligible(): boolean {
    const node = this.#node;
    if (!node || node.metadata.deletionTimestamp !== undefined) return false;
    return !node.taints?.includes(TO_BE_DELETED);
  }

  get alive(): boolean {
    return [...this.families().values()].every(family => family.alive);
  }

  get healthy(): boolean {
    return this.hasStarted && [...this.families().values()].every(family => family.healthy);
  }

  /** When a sync last succeeded, of any family. */
  get lastUpdated(): number | undefined {
    const times = [...(this.#families?.values() ?? [])].flatMap(({ lastUpdated }) => lastUpdated ?? []);
    return times.length > 0 ? Math.max(...times) : undefined;
  }

  families(): ReadonlyMap<Family, FamilyHealth> {
    const now = this.#clock.elapsed();
    return new Map([...(this.#families ?? [])].map(([family, state]) => [family, this.#healthOf(state, now)]));
  }

  #healthOf({ lastUpdated, pendingSince, error }: FamilyState, now: number): FamilyHealth {
    const waited = pendingSince === undefined ? 0 : now - pendingSince;
    const alive = pendingSince === undefined || waited < this.#timeoutMs;
    const healthy = alive && lastUpdated !== undefined;
    const late = alive ? 'no sync has succeeded yet' : `work has been pending for ${Math.floor(waited / 1000)} s`;
    return { lastUpdated, alive, healthy, reason: healthy ? undefined : withError(late, error), error };
  }

  #change(family: Family, change: (state: FamilyState, now: number) => void): void {
    const state = this.#families?.get(family);
    if (state) change(state, this.#clock.elapsed());
  }
}

function newState(): FamilyState {
  return {
    lastUpdated: undefined,
    pendingSince: undefined,
    running: false,
    queuedMeanwhile: undefined,
    error: undefined,
  };
}

function withError(reason: string, error: string | undefined): string {
  return error === undefined ? reason : `${reason}; the last sync failed: ${error}`;
}
