/**
 * A span of time as in Go: whole nanoseconds in 64 signed bits, up to 292 years either way. A number would be exact for
 * 104 days only, and `8760h` is a usual value.
 */
export type Duration = bigint;

export const NANOSECOND: Duration = 1n;
export const MICROSECOND: Duration = 1_000n;
export const MILLISECOND: Duration = 1_000_000n;
export const SECOND: Duration = 1_000_000_000n;
export const MINUTE: Duration = 60n * SECOND;
export const HOUR: Duration = 60n * MINUTE;

/** A text that is no duration. The message is the one of Go. */
export class DurationError extends Error {
  override readonly name = 'DurationError';
}

/** Milliseconds, for timers. */
export function toMilliseconds(duration: Duration): number {
  return Number(duration) / 1e6;
}

/** The largest magnitude. Only a negative duration may reach it. */
const LIMIT = 1n << 63n;

const UNITS: ReadonlyMap<string, Duration> = new Map([
  ['ns', NANOSECOND],
  ['us', MICROSECOND],
  ['µs', MICROSECOND],
  ['μs', MICROSECOND],
  ['ms', MILLISECOND],
  ['s', SECOND],
  ['m', MINUTE],
  ['h', HOUR],
]);

/** Reads `1h30m`, `1.5h`, `-500ms`, `0`. Throws a DurationError. */
export function parseDuration(text: string): Duration {
  const invalid = (): DurationError => new DurationError(`time: invalid duration ${quote(text)}`);
  const negative = text.startsWith('-');
  let rest = /^[-+]/.test(text) ? text.slice(1) : text;
  if (rest === '0') return 0n;
  if (rest === '') throw invalid();
  let total = 0n;
  while (rest !== '') {
    const [number = '', whole = '', dot, fraction = ''] = /^([0-9]*)(?:(\.)([0-9]*))?/.exec(rest) ?? [];
    if (number === '' || (dot !== undefined && whole === '' && fraction === '') || BigInt(whole) > LIMIT)
      throw invalid();
    rest = rest.slice(number.length);
    const [name = ''] = /^[^.0-9]*/.exec(rest) ?? [];
    if (name === '') throw new DurationError(`time: missing unit in duration ${quote(text)}`);
    rest = rest.slice(name.length);
    const unit = UNITS.get(name);
    if (unit === undefined) throw new DurationError(`time: unknown unit ${quote(name)} in duration ${quote(text)}`);
    total += BigInt(whole) * unit + fractionOf(fraction, unit);
    if (total > LIMIT) throw invalid();
  }
  if (negative) return -total;
  if (total === LIMIT) throw invalid();
  return total;
}

/** The duration as Go prints it: `15m0s`, `1.5s`, `500ms`, `0s`. */
export function formatDuration(duration: Duration): string {
  if (duration === 0n) return '0s';
  const sign = duration < 0n ? '-' : '';
  const size = duration < 0n ? -duration : duration;
  if (size < MICROSECOND) return `${sign}${size}ns`;
  if (size < MILLISECOND) return `${sign}${decimal(size, MICROSECOND)}µs`;
  if (size < SECOND) return `${sign}${decimal(size, MILLISECOND)}ms`;
  const hours = size / HOUR;
  const minutes = size / MINUTE;
  const head = `${hours > 0n ? `${hours}h` : ''}${minutes > 0n ? `${minutes % 60n}m` : ''}`;
  return `${sign}${head}${decimal(size % MINUTE, SECOND)}s`;
}

/** Go multiplies floating-point numbers here. Doing the same rounds many digits in the same way. */
function fractionOf(digits: string, unit: Duration): Duration {
  let value = 0n;
  let scale = 1;
  for (const digit of digits) {
    const next = value * 10n + BigInt(digit);
    if (value > (LIMIT - 1n) / 10n || next > LIMIT) break;
    value = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(value) * (Number(unit) / scale)));
}

function decimal(size: Duration, unit: Duration): string {
  const digits = String(unit).length - 1;
  const fraction = String(size % unit)
    .padStart(digits, '0')
    .replace(/0+$/, '');
  return fraction === '' ? String(size / unit) : `${size / unit}.${fraction}`;
}

/** Go's time package quotes in its own way: it writes control characters and bytes outside of ASCII as `\xNN`. */
function quote(text: string): string {
  const escaped = text.replaceAll(/["\\]|[^ -\x7f]+/g, found =>
    found === '"' || found === '\\' ? `\\${found}` : hexBytes(found),
  );
  return `"${escaped}"`;
}

function hexBytes(text: string): string {
  return [...Buffer.from(text)].map(byte => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
}
