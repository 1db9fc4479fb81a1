import type { Node } from '../../api/index.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Family } from '../../net/index.ts';

/** The cluster autoscaler sets this taint on a node before it removes the node. */
const TO_BE_DELETED = 'ToBeDeletedByClusterAutoscaler';

export interface ProxyHealthOptions {
  /** How long work may wait until it is late: twice the sync period. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

export interface FamilyHealth {
  /** When a sync last succeeded, in milliseconds since 1970. */
  readonly lastUpdated: number | undefined;
  /** How long the oldest work has waited for a sync. */
  readonly pendingMs: number | undefined;
  /** No work is late, or no sync has succeeded yet: a restart would not help then. */
  readonly alive: boolean;
  /** Alive, and a sync has succeeded. */
  readonly healthy: boolean;
  /** Why the last sync failed. A failure alone does not make the family unhealthy: its work must be late. */
  readonly error: string | undefined;
}

interface FamilyState {
  lastUpdated: number | undefined;
  /** Since when the oldest work has waited for a sync, by the clock that never jumps. */
  pendingSince: number | undefined;
  running: boolean;
  /** Since when there is work that the running sync may have missed. */
  queuedMeanwhile: number | undefined;
  error: string | undefined;
}

/** Whether the proxy keeps the kernel up to date, and whether load balancers may send traffic to the node. */
export class ProxyHealth {
  readonly #clock: Clock;
  #timeoutMs: number;
  #families: ReadonlyMap<Family, FamilyState> | undefined;
  #node: Node | undefined;

  constructor({ timeoutMs, clock }: ProxyHealthOptions) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** Sets the families that the proxy serves. Before this call nothing is healthy, and nothing is late. */
  started(families: readonly Family[]): void {
    this.#families = new Map(families.map(family => [family, newState()]));
  }

  setTimeoutMs(timeoutMs: number): void {
    this.#timeoutMs = timeoutMs;
  }

  get hasStarted(): boolean {
    return this.#families !== undefined;
  }

  /** There is work for a sync: a change, or the first sync because all objects are known. */
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

  /** A sync succeeded. Work that was queued while it ran stays pending. */
  updated(family: Family): void {
    this.#change(family, state => {
      state.pendingSince = state.running ? state.queuedMeanwhile : undefined;
      state.running = false;
      state.lastUpdated = this.#clock.now();
      state.error = undefined;
    });
  }

  /** A sync failed. Its work stays pending, and keeps its age. */
  failed(family: Family, error: string): void {
    this.#change(family, (state, now) => {
      state.running = false;
      state.pendingSince ??= now;
      state.error = error;
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

  /** When a sync of any family last succeeded, in milliseconds since 1970. */
  get lastUpdated(): number | undefined {
    const times = [...(this.#families?.values() ?? [])].flatMap(({ lastUpdated }) => lastUpdated ?? []);
    return times.length > 0 ? Math.max(...times) : undefined;
  }

  families(): ReadonlyMap<Family, FamilyHealth> {
    const now = this.#clock.elapsed();
    return new Map([...(this.#families ?? [])].map(([family, state]) => [family, this.#healthOf(state, now)]));
  }

  #healthOf({ lastUpdated, pendingSince, error }: FamilyState, now: number): FamilyHealth {
    const pendingMs = pendingSince === undefined ? undefined : now - pendingSince;
    const isLate = pendingMs !== undefined && pendingMs >= this.#timeoutMs;
    const hasSynced = lastUpdated !== undefined;
    return { lastUpdated, pendingMs, alive: !isLate || !hasSynced, healthy: !isLate && hasSynced, error };
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
