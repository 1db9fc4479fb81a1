/** Go's text for a time that was never set. */
export const ZERO_TIME = '0001-01-01T00:00:00Z';

/** Milliseconds since 1970 as Go writes a time in JSON: RFC 3339, in the process's time zone, no trailing zeros. */
export function goTime(ms: number): string {
  const offset = -new Date(ms).getTimezoneOffset();
  const local = new Date(ms + offset * 60_000).toISOString();
  const fraction = local.slice(19, -1).replace(/\.?0+$/, '');
  return local.slice(0, 19) + fraction + zone(offset);
}

function zone(offset: number): string {
  if (offset === 0) return 'Z';
  const minutes = Math.abs(offset);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
