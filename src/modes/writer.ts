import type { PlanDiff, ServicePortPlan } from '../plan/index.ts';
import type { Listing } from './listing.ts';
import type { ModeSettings } from './mode.ts';
import type { KernelReading } from './read-back.ts';

/** Another program changed, or may have changed, what a writer wrote. */
export interface Drift {
  /** What the other program did, for people. */
  readonly cause: string;
  /** The parts that changed, by names that only the writer knows. Undefined: any part may have changed. */
  readonly parts?: ReadonlySet<string> | undefined;
  /** No change is known. The writer compares everything from time to time. */
  readonly isRoutine?: boolean | undefined;
}

/** A quick look asks the kernel a few questions; a thorough look compares as much as the mode can. */
export type DriftLook = 'quick' | 'thorough';

/** `needs-full-write`: the kernel has something else than the writer believed, so the next write is a full one. */
export type WriteOutcome = 'written' | 'needs-full-write';

/** Writes one family of one mode. The shell calls all functions but `findDrift` one at a time. */
export interface Writer {
  /** Takes changes of plans that the plan book holds by now. Only writers that keep more than the book need it. */
  takePlans?(plans: PlanDiff): void;
  takeSettings(settings: ModeSettings): void;
  /** Whether the next write compares everything. */
  readonly isNextWriteFull: boolean;
  write(): Promise<WriteOutcome>;
  /** Runs beside writes, and takes a turn for what must not. Writers that the kernel notifies do not have it. */
  findDrift?(look: DriftLook): Promise<Drift | undefined>;
  /** Compares with the kernel and writes what differs. Returns what it wrote, in words, or undefined if nothing did. */
  repair(drift: Drift): Promise<string | undefined>;
  /** See `Mode.readBack`. It runs beside writes. */
  readBack(plan: ServicePortPlan): Promise<KernelReading>;
  /** See `Mode.listing`. It runs beside writes. */
  listing(plans: readonly ServicePortPlan[]): Promise<Listing>;
  /** A value that every change of the kernel's rules alters. Without it, only work of the shell counts as a change. */
  changeStamp?(): unknown;
  /** In how many milliseconds leftovers can be removed; undefined if there are none. */
  readonly leftoversDueMs?: number | undefined;
  removeLeftovers?(): Promise<void>;
  close?(): void;
}
