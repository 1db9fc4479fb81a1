const UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
] as const;

/** A duration for people, in at most two units: `7 s`, `5 min`, `3 h 12 min`, `2 d 4 h`. */
export function durationWords(seconds: number): string {
  const whole = Math.floor(seconds);
  const largest = UNITS.findIndex(([size]) => whole >= size);
  const [size, name] = UNITS[largest] ?? [1, 's'];
  const rest = whole % size;
  const [small, smallName] = UNITS[largest + 1] ?? [1, 's'];
  const minor = largest < 0 || largest === 2 ? 0 : Math.floor(rest / small);
  return `${Math.floor(whole / size)} ${name}${minor > 0 ? ` ${minor} ${smallName}` : ''}`;
}

/** `12.3ms`, for log lines. */
export function millisecondsText(milliseconds: number): string {
  return `${milliseconds.toFixed(1)}ms`;
}
