import { median } from './report.ts';
import type { Operation } from './socket-load.ts';

export const CALLERS = ['node', 'pod'] as const;
export type Caller = (typeof CALLERS)[number];

/** How a client reaches the endpoint: by its own address, or through a Service in one of two modes. */
export const WAYS = ['direct', 'nftables', 'ebpf'] as const;
export type Way = (typeof WAYS)[number];

/** One slice of time in which one client did nothing but one operation in one way. */
export interface Slice {
  readonly round: number;
  /** Microseconds of processor time for an operation: client, server and node together. */
  readonly cpuUs: number;
  readonly perSecond: number;
  /** Microseconds from the begin to the end of an operation. */
  readonly p50: number;
  readonly p99: number;
  /** No other program had the processor. */
  readonly isQuiet: boolean;
}

/** What the slices of one caller and one operation are, by way. */
export interface Measured {
  readonly caller: Caller;
  readonly operation: Operation;
  readonly slices: Readonly<Record<Way, Slice[]>>;
}

/** With fewer quiet slices, those that other programs disturbed count as well. */
const MIN_QUIET = 3;

export interface TurnLimits {
  /** How many quiet slices each way needs. */
  readonly quietSlices: number;
  readonly sliceMs: number;
  /** The end of all turns, with or without enough quiet slices. */
  readonly datapathMs: number;
}

export type TakeSlice = (round: number, caller: Caller, way: Way, operation: Operation, ms: number) => Promise<Slice>;

/** All ways of all operations take turns, in another order in each round. The first round only warms up. */
export async function takeTurns(
  operations: readonly Operation[],
  take: TakeSlice,
  limits: TurnLimits,
): Promise<readonly Measured[]> {
  const all: Measured[] = CALLERS.flatMap(caller =>
    operations.map(operation => ({ caller, operation, slices: { direct: [], nftables: [], ebpf: [] } })),
  );
  const end = performance.now() + limits.datapathMs;
  for (let round = 0; performance.now() < end; round++) {
    const open = all.filter(({ slices }) => WAYS.some(way => quietOf(slices[way]).length < limits.quietSlices));
    if (open.length === 0) break;
    for (const { caller, operation, slices } of open) {
      for (const way of rotated(WAYS, round)) {
        const slice = await take(round, caller, way, operation, limits.sliceMs);
        if (round > 0) slices[way].push(slice);
      }
    }
  }
  return all;
}

function rotated<T>(list: readonly T[], by: number): readonly T[] {
  const at = by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}

function quietOf(slices: readonly Slice[]): readonly Slice[] {
  return slices.filter(({ isQuiet }) => isQuiet);
}

/** Too few slices of one of the ways were quiet. Then the disturbed ones of all ways count, or the ways could not compare. */
export function isDisturbed({ slices }: Measured): boolean {
  return WAYS.some(way => quietOf(slices[way]).length < MIN_QUIET);
}

/** The slices of a way that count. */
function countedSlices(measured: Measured, way: Way): readonly Slice[] {
  const slices = measured.slices[way];
  return isDisturbed(measured) ? slices : quietOf(slices);
}

export function medianOf(measured: Measured, way: Way, figure: Exclude<keyof Slice, 'isQuiet'>): number {
  return median(countedSlices(measured, way).map(slice => slice[figure]));
}

/**
 * The processor time of a way as a part of that of another: the median of the ratios of slices of the same round, so that
 * a machine that slowly changes does not matter.
 */
export function ratioOf(measured: Measured, way: Way, base: Way): number {
  const counted = new Map(countedSlices(measured, base).map(({ round, cpuUs }) => [round, cpuUs]));
  const ratios = countedSlices(measured, way).flatMap(({ round, cpuUs }) => {
    const other = counted.get(round);
    return other === undefined ? [] : cpuUs / other;
  });
  return ratios.length >= MIN_QUIET
    ? median(ratios)
    : medianOf(measured, way, 'cpuUs') / medianOf(measured, base, 'cpuUs');
}
