import { type Clock, systemClock } from '../lib/clock.ts';
import type { Repair } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import { PulseRecorder } from './pulse.ts';
import type { DriftStatus, SyncStatus } from './status.ts';

/** A sync that ended. */
export interface EndedSync {
  readonly full: boolean;
  readonly servicePorts: number;
  readonly milliseconds: number;
  /** The longest time from the event of a Service to the kernel. Undefined if no Service changed. */
  readonly latencyMs?: number | undefined;
  /** Why it failed. */
  readonly error?: string | undefined;
}

const MAX_SYNCS = 10;

/** What happened in this run of the proxy, as far as its status shows it. */
export class RunRecord {
  readonly pulse: PulseRecorder;
  readonly #clock: Clock;
  readonly #syncs: SyncStatus[] = [];
  #repairs = 0;
  #failedSyncs = 0;
  #lastRepair: DriftStatus['last'];

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.pulse = new PulseRecorder(clock);
  }

  repaired(family: Family, repair: Repair): void {
    this.#repairs++;
    const { cause, written } = repair;
    this.#lastRepair = { at: new Date(this.#clock.now()).toISOString(), family, cause, written };
  }

  syncEnded(family: Family, sync: EndedSync): void {
    const { full, servicePorts, milliseconds, error } = sync;
    this.pulse.syncEnded(sync);
    if (error !== undefined) this.#failedSyncs++;
    const at = new Date(this.#clock.now()).toISOString();
    this.#syncs.unshift({ at, family, full, servicePorts, milliseconds: Math.round(milliseconds), error });
    if (this.#syncs.length > MAX_SYNCS) this.#syncs.pop();
  }

  get drift(): DriftStatus {
    return { repairs: this.#repairs, ...(this.#lastRepair && { last: this.#lastRepair }) };
  }

  get failedSyncs(): number {
    return this.#failedSyncs;
  }

  /** The last syncs, the newest first. */
  get syncs(): readonly SyncStatus[] {
    return this.#syncs;
  }
}
