import type { HistoryRow, MissedRow } from '../../inspect/index.ts';
import { printable } from '../../lib/printable.ts';
import { shorten } from '../../lib/shorten.ts';
import type { Style } from '../style.ts';
import { TableStream } from '../table-stream.ts';

export interface HistoryTableOptions {
  readonly style: Style;
  readonly print: (text: string) => void;
  /** Prints every row at once: the widths do not depend on the first rows. */
  readonly hasFixedWidths?: boolean;
}

/** Prints entries as a table. Without any it prints nothing. */
export function historyTable({ style, print, hasFixedWidths = false }: HistoryTableOptions) {
  let table: TableStream | undefined;
  const open = () => {
    const opened = new TableStream(['TIME', 'WHAT', 'OBJECT', 'LATENCY', 'CHANGE'].map(style.bold), print, {
      minWidths: hasFixedWidths ? FOLLOW_WIDTHS : [],
    });
    if (hasFixedWidths) opened.flush();
    return opened;
  };
  return {
    add(row: HistoryRow | MissedRow): void {
      table ??= open();
      if ('missed' in row)
        table.add(['', style.yellow('missed'), '', '', `${row.missed} entries came too fast to print`]);
      else table.add(cellsOf(row, style));
    },
    end: () => table?.flush(),
  };
}

const MAX_CELL = 200;

const FOLLOW_WIDTHS = [23, 13, 30, 21];

const KIND_WORDS: Readonly<Record<string, string>> = {
  listed: 'objects',
  syncFailed: 'sync failed',
  setAside: 'set aside',
  watchFailed: 'watch failed',
  watchRecovered: 'watch',
  serviceCidr: 'service CIDR',
  recovered: 'problem over',
};

const FAILURES: ReadonlySet<string> = new Set(['syncFailed', 'setAside', 'watchFailed', 'problem']);

function cellsOf(row: HistoryRow, style: Style): readonly string[] {
  const { kind, time, object, family, count, lastTime } = row;
  const word = printable(KIND_WORDS[kind] ?? kind);
  const repeated = count === undefined || lastTime === undefined ? '' : ` (${count} times, last ${timeText(lastTime)})`;
  const about = [object, family].filter(text => text !== undefined).join(' ');
  return [
    timeText(time),
    FAILURES.has(kind) ? style.red(word) : kind === 'repair' ? style.yellow(word) : word,
    printable(about) || '-',
    latencyText(row, style),
    `${changeText(row, style)}${repeated}`,
  ];
}

/** A repair begins with what the other program did. */
function changeText({ kind, change, cause }: HistoryRow, style: Style): string {
  if (cause === undefined) return cellText(change);
  if (kind === 'repair') return `${cellText(cause)}; the proxy repaired it: ${cellText(change)}`;
  return `${cellText(change)}${style.dim(` ← ${cellText(cause)}`)}`;
}

/** The JSON has the whole text. */
function cellText(text: string): string {
  return shorten(printable(text), MAX_CELL);
}

function latencyText({ kind, state, writtenMs, syncMs, triggered, time, fullSync }: HistoryRow, style: Style): string {
  if (state === 'waiting') return style.yellow('not written yet');
  if (state === 'setAside') return style.red('set aside');
  if (writtenMs === undefined) return '-';
  const full = fullSync ? ', full sync' : '';
  if (kind !== 'change') return `took ${durationText(syncMs ?? writtenMs)}${full}`;
  const before = triggered === undefined ? undefined : Date.parse(time) - Date.parse(triggered);
  const trigger = before === undefined || before < 0 ? '' : `trigger → event ${durationText(before)}, `;
  return `${trigger}event → kernel ${durationText(writtenMs)}${full}`;
}

function durationText(milliseconds: number): string {
  if (milliseconds < 10) return `${Math.round(milliseconds * 10) / 10} ms`;
  return milliseconds < 10_000 ? `${Math.round(milliseconds)} ms` : `${Math.round(milliseconds / 1000)} s`;
}

/** In the time zone of the operator: `2026-11-16 05:20:03.123`. */
function timeText(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return printable(text);
  const two = (value: number) => String(value).padStart(2, '0');
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  return `${date} ${clock}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}
