import type { HistoryRow } from '../../../../../inspect/index.ts';
import { millisecondsText } from '../../../parts/age.ts';

/** A row of the history with the parts of its bar. */
export interface HistoryItem {
  readonly row: HistoryRow;
  readonly word: string;
  readonly tone: 'bad' | 'warn' | 'plain';
  /** Undefined if nothing was written, or not yet. */
  readonly bar: LatencyBar | undefined;
  /** `2 ms to the plan, 14 ms to the kernel`, or why there is no such time. */
  readonly latency: string;
}

/** The shares of the whole width, from 0 to 1. The widest bar of the list has the whole width. */
export interface LatencyBar {
  readonly planned: number;
  readonly written: number;
}

const KIND_WORDS: Readonly<Record<string, string>> = {
  syncFailed: 'sync failed',
  setAside: 'set aside',
  watchFailed: 'watch failed',
  watchRecovered: 'watch',
  recovered: 'problem over',
};
const FAILURES: ReadonlySet<string> = new Set(['syncFailed', 'setAside', 'watchFailed', 'problem']);

/** The newest first. */
export function historyItems(rows: readonly HistoryRow[]): readonly HistoryItem[] {
  const longest = Math.max(0, ...rows.map(({ writtenMs = 0 }) => writtenMs));
  return rows.map(row => itemOf(row, longest)).reverse();
}

function itemOf(row: HistoryRow, longest: number): HistoryItem {
  const { kind, state } = row;
  return {
    row,
    word: KIND_WORDS[kind] ?? kind,
    tone:
      FAILURES.has(kind) || state === 'setAside' ? 'bad' : kind === 'repair' || state === 'waiting' ? 'warn' : 'plain',
    bar: barOf(row, longest),
    latency: latencyText(row),
  };
}

function barOf({ plannedMs = 0, writtenMs }: HistoryRow, longest: number): LatencyBar | undefined {
  if (writtenMs === undefined || longest === 0) return undefined;
  const planned = Math.min(plannedMs, writtenMs);
  return { planned: planned / longest, written: (writtenMs - planned) / longest };
}

function latencyText({ state, plannedMs, writtenMs, fullSync }: HistoryRow): string {
  if (state === 'waiting') return 'not written yet';
  if (state === 'setAside') return 'set aside';
  if (writtenMs === undefined) return 'nothing to write';
  const plan = plannedMs === undefined ? '' : `${millisecondsText(plannedMs)} to the plan, `;
  return `${plan}${millisecondsText(writtenMs)} to the kernel${fullSync ? ', full sync' : ''}`;
}
