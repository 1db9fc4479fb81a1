import { durationWords } from '../../../../lib/duration-words.ts';

/** A part of the time axis, in milliseconds since 1970. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** What the address says. While `isFollowing`, the end is now, and the length stays. */
export interface ChosenSpan extends Span {
  readonly isFollowing: boolean;
}

export const MIN_LENGTH = 1000;
const DEFAULT_LENGTH = 15 * 60 * 1000;

export function lengthOf({ from, until }: Span): number {
  return until - from;
}

const UNITS = { s: 1000, m: 60_000, h: 3_600_000 } as const;
const RELATIVE = /^-(\d{1,9})([smh])$/;

/** `from` is a time, or `-15m` for the last 15 minutes. An empty `until` is now. What cannot be read is the default. */
export function parseSpan(fromText: string, untilText: string, now: number): ChosenSpan {
  const until = untilText === '' ? Number.NaN : Date.parse(untilText);
  const isFollowing = Number.isNaN(until);
  const end = isFollowing ? now : until;
  const [, digits, unit] = RELATIVE.exec(fromText) ?? [];
  const length = digits === undefined ? Number.NaN : Number(digits) * UNITS[unit as keyof typeof UNITS];
  const start = Number.isNaN(length) ? Date.parse(fromText) : end - length;
  const from = Number.isNaN(start) ? end - DEFAULT_LENGTH : start;
  return { from: Math.min(from, end - MIN_LENGTH), until: end, isFollowing };
}

/** The parameters of the address for a span. */
export function formatSpan({ from, until, isFollowing }: ChosenSpan): {
  readonly from: string;
  readonly until: string;
} {
  if (!isFollowing) return { from: new Date(from).toISOString(), until: new Date(until).toISOString() };
  return { from: `-${lengthText(until - from)}`, until: '' };
}

function lengthText(milliseconds: number): string {
  const seconds = Math.max(1, Math.round(milliseconds / 1000));
  if (seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

/** The whole axis: from the first of these moments until now, and never shorter than the default. */
export function boundsOf(now: number, ...moments: readonly (number | undefined)[]): Span {
  return { from: Math.min(now - DEFAULT_LENGTH, ...moments.filter(at => at !== undefined)), until: now };
}

/** A span that follows moves with the time. */
export function current(span: ChosenSpan, now: number): ChosenSpan {
  return span.isFollowing ? { from: now - lengthOf(span), until: now, isFollowing: true } : span;
}

/** Makes a span longer or shorter around a moment, which keeps its place on the axis. */
export function zoom(span: ChosenSpan, factor: number, around: number, bounds: Span): ChosenSpan {
  const longest = Math.max(MIN_LENGTH, lengthOf(bounds));
  const length = Math.min(longest, Math.max(MIN_LENGTH, lengthOf(span) * factor));
  const place = (around - span.from) / lengthOf(span);
  const from = around - place * length;
  return within({ from, until: from + length }, bounds, span.isFollowing);
}

/** Moves a span by a part of its length. */
export function pan(span: ChosenSpan, part: number, bounds: Span): ChosenSpan {
  const by = lengthOf(span) * part;
  return within({ from: span.from + by, until: span.until + by }, bounds, false);
}

/** A span that the reader drew. Its ends may be in any order. */
export function select(a: number, b: number, bounds: Span): ChosenSpan {
  const from = Math.min(a, b);
  return within({ from, until: Math.max(from + MIN_LENGTH, a, b) }, bounds, false);
}

export function all(bounds: Span): ChosenSpan {
  return { ...bounds, isFollowing: true };
}

/** Keeps the span inside of the bounds. A span that reaches the end of the bounds follows. */
function within({ from, until }: Span, bounds: Span, isFollowing: boolean): ChosenSpan {
  const length = Math.min(until - from, Math.max(MIN_LENGTH, lengthOf(bounds)));
  if (isFollowing || until >= bounds.until) {
    return { from: bounds.until - length, until: bounds.until, isFollowing: true };
  }
  const start = Math.max(bounds.from, from);
  return { from: start, until: start + length, isFollowing: start + length >= bounds.until };
}

/** `15 min until now`, `2 h 5 min until 14:03:07` */
export function spanText(span: ChosenSpan): string {
  const end = span.isFollowing ? 'now' : new Date(span.until).toLocaleTimeString();
  return `${durationWords(Math.round(lengthOf(span) / 1000))} until ${end}`;
}

/** Where a moment is on an axis of this width. */
export function positionOf(at: number, span: Span, width: number): number {
  return ((at - span.from) / lengthOf(span)) * width;
}

export function momentAt(x: number, span: Span, width: number): number {
  return span.from + (x / Math.max(1, width)) * lengthOf(span);
}
