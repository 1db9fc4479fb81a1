import type { Figure } from '../record/result.ts';
import { repeated } from '../record/statistics.ts';
import type { Operation } from './operations.ts';
import type { WayLoad } from './way-lab.ts';

/** What one slice of time was. */
export interface PathSlice {
  readonly way: string;
  readonly operation: Operation;
  readonly perSecond: number;
  /** Microseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly cpuUs: number;
  /** No other program had the processor. */
  readonly isQuiet: boolean;
}

/** If client and server had less of their processor, other programs had it too. */
const QUIET_SHARE = 0.93;
/** With fewer quiet slices of one of the ways, the disturbed ones of all ways count as well. */
const MIN_QUIET = 3;

export function sliceOf(way: string, operation: Operation, load: WayLoad): PathSlice {
  const { count, ms, p50, p99, totalCpuMs } = load;
  const isQuiet = totalCpuMs / ms >= QUIET_SHARE;
  return { way, operation, perSecond: (count * 1000) / ms, p50, p99, cpuUs: (totalCpuMs * 1000) / count, isQuiet };
}

/** All ways take turns, each round beginning with another way. The first round only warms up. */
export async function takePathTurns<W>(
  ways: readonly W[],
  rounds: number,
  take: (way: W) => Promise<PathSlice>,
): Promise<readonly PathSlice[]> {
  const slices: PathSlice[] = [];
  for (let round = 0; round <= rounds; round++) {
    for (let i = 0; i < ways.length; i++) {
      // The first round that counts has the order of the list, as the tables have.
      const way = ways[(i + round + ways.length - 1) % ways.length];
      if (way === undefined) continue;
      const slice = await take(way);
      if (round > 0) slices.push(slice);
    }
  }
  return slices;
}

/** The slices that count: the quiet ones, or all if a way has too few of them. */
export function countedSlices(slices: readonly PathSlice[]): readonly PathSlice[] {
  const ways = [...new Set(slices.map(({ way }) => way))];
  const quiet = slices.filter(({ isQuiet }) => isQuiet);
  const isEnough = ways.every(name => quiet.filter(({ way }) => way === name).length >= MIN_QUIET);
  return isEnough ? quiet : slices;
}

/** The figures of one operation and one number of Services. */
export function pathFigures(slices: readonly PathSlice[], operation: Operation, size: string): readonly Figure[] {
  const counted = countedSlices(slices.filter(slice => slice.operation === operation));
  const isBulk = operation === 'bulk';
  return [...new Set(counted.map(({ way }) => way))].flatMap(subject => {
    const own = counted.filter(({ way }) => way === subject);
    const head = { part: operation, size, subject };
    const times = (['p50', 'p99'] as const).map(name =>
      repeated(
        { ...head, name: `time ${name}`, unit: 'µs', kind: 'time' },
        own.map(slice => slice[name]),
      ),
    );
    return [
      repeated(
        { ...head, name: 'rate', unit: isBulk ? 'MB/s' : 'a second', kind: 'rate' },
        own.map(slice => slice.perSecond),
      ),
      ...(isBulk ? [] : times),
      repeated(
        { ...head, name: 'processor', unit: isBulk ? 'µs/MB' : 'µs', kind: 'time' },
        own.map(slice => slice.cpuUs),
      ),
    ];
  });
}
