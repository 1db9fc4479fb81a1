import { durationWords } from '../../../lib/duration-words.ts';
import { now } from '../state/clock.ts';
import { connection, lastDataAt, lastFailure } from '../state/live.ts';

/** Says that the data below is old, and why. Without data it says that the page waits for the proxy. */
export function ConnectionBanner() {
  const state = connection.value;
  if (state === 'live' || state === 'denied') return null;
  if (state === 'connecting' && lastFailure.value === undefined) return null;
  const since = lastDataAt.value;
  return (
    <div class="connection-banner" role="status">
      <strong>
        <span aria-hidden="true">⟳ </span>
        {state === 'paused' ? 'The page was hidden and did not follow the proxy.' : 'No connection to the proxy.'}
      </strong>
      <span>
        {lastFailure.value} The page retries by itself.
        {since !== undefined && ` What you see is ${durationWords(Math.max(0, now.value - since) / 1000)} old.`}
      </span>
    </div>
  );
}
