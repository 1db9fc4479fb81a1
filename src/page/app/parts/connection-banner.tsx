import { durationWords } from '../../../lib/duration-words.ts';
import { now } from '../state/clock.ts';
import { connection, lastDataAt, lastFailure } from '../state/live.ts';

/** Says that the data below is old, and why. Without data it says that the page waits for the proxy. */
export function ConnectionBanner() {
  const state = connection.value;
  if (state === 'live' || state === 'denied') return null;
  if (state === 'connecting' && lastFailure.value === undefined) return null;
  const since = lastDataAt.value;
  const age = since === undefined ? '' : durationWords(Math.max(0, now.value - since) / 1000);
  return (
    <div class="connection-banner" role="status">
      <strong>
        <span aria-hidden="true">⟳ </span>
        {state === 'paused' ? 'The page was hidden, and catches up now.' : 'No connection to the proxy.'}
      </strong>
      {state !== 'paused' && <span>{lastFailure.value} The page retries by itself.</span>}
      {age !== '' && <span>What you see is {age} old.</span>}
    </div>
  );
}
