import type { Span } from './span.ts';

export interface Tick {
  readonly at: number;
  /** In the time of the browser: `14:03`, `14:03:07`. */
  readonly text: string;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map(n => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map(n => n * MINUTE),
  ...[1, 2, 3, 6, 12].map(n => n * HOUR),
  ...[1, 2, 7, 14, 28].map(n => n * DAY),
];

/** Round moments of a span, at most `count`. */
export function ticksOf({ from, until }: Span, count: number, offsetMs = offsetOf(from)): readonly Tick[] {
  const wanted = (until - from) / Math.max(1, count);
  const step = STEPS.find(each => each >= wanted) ?? Math.ceil(wanted / DAY) * DAY;
  const ticks: Tick[] = [];
  for (let at = Math.ceil((from + offsetMs) / step) * step - offsetMs; at <= until; at += step) {
    ticks.push({ at, text: tickText(at + offsetMs, step) });
  }
  return ticks.slice(0, count + 1);
}

/** Round hours are round where the reader is. */
function offsetOf(at: number): number {
  return -new Date(at).getTimezoneOffset() * MINUTE;
}

function tickText(local: number, step: number): string {
  const text = new Date(local).toISOString();
  if (step >= DAY) return text.slice(5, 10);
  if (step >= MINUTE) return text.slice(11, 16);
  return step >= SECOND ? text.slice(11, 19) : text.slice(11, 21);
}
