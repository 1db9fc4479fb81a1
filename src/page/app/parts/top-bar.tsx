import './top-bar.css';
import { formatAddress } from '../address.ts';
import { now } from '../state/clock.ts';
import { connection, hello, lastDataAt, status } from '../state/live.ts';
import { connectionWords } from './connection-words.ts';
import { LightBar } from './lights/light-bar.tsx';

/** Node, mode, version, the lights, and how fresh the data is. */
export function TopBar() {
  const node = hello.value?.node ?? status.value?.node;
  const mode = hello.value?.mode ?? status.value?.mode;
  return (
    <header class="top-bar">
      <a class="brand" href={formatAddress({ view: 'services' })}>
        <img src="icon.svg" alt="" width="20" height="20" />
        Pointsman
      </a>
      <span class="node">
        <strong>{node ?? '…'}</strong>{' '}
        <span class="quiet">{[mode, status.value?.version].filter(Boolean).join(' · ')}</span>
      </span>
      <LightBar />
      <Freshness />
    </header>
  );
}

/** Whether the data is live, and how old it is. */
function Freshness() {
  const since = lastDataAt.value;
  const { sign, text, tone } = connectionWords(connection.value, since === undefined ? undefined : now.value - since);
  return (
    <span class={`freshness ${tone}`}>
      <span aria-hidden="true">{sign}</span> {text}
    </span>
  );
}
