import { durationWords } from '../../../lib/duration-words.ts';

/** `now`, `12 s ago`, `3 h 12 min ago`. The clocks of two machines differ a little, so the future is `now`. */
export function ageText(milliseconds: number): string {
  return milliseconds < 1000 ? 'now' : `${durationWords(milliseconds / 1000)} ago`;
}

/** In two or three figures: `0.4 ms`, `27 ms`, `1.3 s`. */
export function millisecondsText(milliseconds: number): string {
  if (milliseconds < 9.95) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  return milliseconds < 9950 ? `${(milliseconds / 1000).toFixed(1)} s` : durationWords(milliseconds / 1000);
}

/** The time of day here: `14:03:07.250`. */
export function clockText(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const milliseconds = String(date.getMilliseconds()).padStart(3, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${milliseconds}`;
}
