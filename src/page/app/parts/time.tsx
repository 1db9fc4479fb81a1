import { now } from '../state/clock.ts';
import { ageText, clockText } from './age.ts';

/** How long ago: `12 s ago`. It counts by itself. The exact time is its title. */
export function Age({ time }: { readonly time: string | number }) {
  const at = typeof time === 'number' ? time : Date.parse(time);
  if (Number.isNaN(at)) return <>–</>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {ageText(now.value - at)}
    </time>
  );
}

/** The time of day to the millisecond: `14:03:07.250`. */
export function ClockTime({ time }: { readonly time: string | number }) {
  const at = typeof time === 'number' ? time : Date.parse(time);
  if (Number.isNaN(at)) return <>–</>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()} class="mono">
      {clockText(date)}
    </time>
  );
}
