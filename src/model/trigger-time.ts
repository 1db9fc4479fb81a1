const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Parses an RFC 3339 time with up to nanoseconds. Returns milliseconds since 1970 with a fraction, so that two times
 * within a millisecond differ.
 */
export function parseTriggerTime(text: string): number | undefined {
  const match = RFC3339.exec(text);
  if (!match) return undefined;
  const fraction = match[1] ?? '';
  const seconds = Date.parse(text.replace(fraction, ''));
  return Number.isNaN(seconds) ? undefined : seconds + Number(`0${fraction}`) * 1000;
}
