import type { RouteEvent } from '../../kernel/rtnetlink/index.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import type { Family, Ip } from '../../net/index.ts';
import type { DriftSchedule } from '../drift-loop.ts';
import type { Drift, DriftLook } from '../writer.ts';
import type { ServerTable } from './kernel-state/server-table.ts';
import type { SetTable } from './kernel-state/set-table.ts';
import { LINK } from './names.ts';

/**
 * The kernel does not notify of changes of virtual servers and sets. After ten repairs within a minute the mode leaves
 * further ones to the thorough look, so that two programs do not fight.
 */
export const DRIFT_SCHEDULE: DriftSchedule = {
  quickMs: 1000,
  thoroughMs: 30_000,
  pausePerLook: 20,
  repairLimits: { atOnce: 10, windowMs: 60_000, firstPauseMs: 30_000, maxPauseMs: 30_000 },
};

/** Another program often changes several things at once. A repair in between would be undone. */
const DEBOUNCE_MS = 30;

interface QuickTables {
  readonly servers: Pick<ServerTable, 'areCleared'>;
  readonly sets: Pick<SetTable, 'drift'>;
}

/**
 * The quick look asks for one virtual server and for the headers of the sets. The thorough look leaves it to the repair
 * to read everything. `tables`: undefined if the writer does not know what the kernel should have.
 */
export function findDrift(look: DriftLook, tables: QuickTables | undefined): Drift | undefined {
  if (look === 'thorough') return { cause: 'another program changed something', isRoutine: true };
  const cause = tables?.servers.areCleared() ? 'virtual servers are gone' : tables?.sets.drift();
  return cause === undefined ? undefined : { cause };
}

export interface LinkWatchOptions {
  readonly clock: Clock;
  /** The families whose addresses kube-ipvs0 should have. */
  families(): Iterable<readonly [Family, { needsAddress(ip: Ip): boolean }]>;
  drifted(family: Family, drift: Drift): void;
}

/** Finds out from the kernel's notifications that another program deleted kube-ipvs0 or one of its addresses. */
export class LinkWatch {
  readonly #options: LinkWatchOptions;
  readonly #causes = new Map<Family, string>();
  #timer: Timer | undefined;
  #closed = false;

  constructor(options: LinkWatchOptions) {
    this.#options = options;
  }

  /** The kernel notified of a change of kube-ipvs0. */
  changed(event: RouteEvent): void {
    if (event.type !== 'del' || this.#closed) return;
    const isLink = event.kind === 'link';
    const cause = isLink ? `${LINK} was deleted` : `${LINK} lost ${event.address.ip}`;
    for (const [family, writer] of this.#options.families()) {
      if (!isLink && !writer.needsAddress(event.address.ip)) continue;
      if (!this.#causes.has(family)) this.#causes.set(family, cause);
    }
    if (this.#causes.size > 0) this.#timer ??= this.#options.clock.setTimer(DEBOUNCE_MS, () => this.#report());
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  #report(): void {
    this.#timer = undefined;
    const causes = [...this.#causes];
    this.#causes.clear();
    for (const [family, cause] of causes) this.#options.drifted(family, { cause });
  }
}
