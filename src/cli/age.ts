const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago, in the manner of kubectl: `45s`, `12m`, `3h`, `4d`. */
export function ageText(milliseconds: number): string {
  if (milliseconds < 2 * MINUTE) return `${Math.max(0, Math.floor(milliseconds / SECOND))}s`;
  if (milliseconds < 3 * HOUR) return `${Math.floor(milliseconds / MINUTE)}m`;
  if (milliseconds < 2 * DAY) return `${Math.floor(milliseconds / HOUR)}h`;
  return `${Math.floor(milliseconds / DAY)}d`;
}
