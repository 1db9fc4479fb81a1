const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Reads an RFC 3339 time with up to nanoseconds as milliseconds since 1970. What Date cannot hold stays as the
 * number's fraction, so that two times within a millisecond still compare.
 */
export function parseTriggerTime(text: string): number | undefined {
  const match = RFC3339.exec(text);
  if (!match) return undefined;
  const fraction = match[1] ?? '';
  const seconds = Date.parse(text.replace(fraction, ''));
  return Number.isNaN(seconds) ? undefined : seconds + Number(`0${fraction}`) * 1000;
}
