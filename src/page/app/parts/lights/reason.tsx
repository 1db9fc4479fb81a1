import type { ProxyStatus } from '../../../../inspect/index.ts';
import { formatAddress } from '../../address.ts';
import { status } from '../../state/live.ts';
import { millisecondsText } from '../age.ts';
import { Loading } from '../notes.tsx';
import { Age } from '../time.tsx';
import type { LightName } from './lights.ts';
import { ProblemList } from './problem-list.tsx';

/** Why a light is as it is. */
export function Reason({ light }: { readonly light: LightName }) {
  const known = status.value;
  if (!known) return <Loading what="the status" />;
  switch (light) {
    case 'watches':
      return <Watches status={known} />;
    case 'syncs':
      return <Syncs status={known} />;
    case 'drift':
      return <Drift status={known} />;
    case 'problems':
      return <ProblemList status={known} />;
  }
}

interface ReasonProps {
  readonly status: ProxyStatus;
}

function Watches({ status: { source, watches } }: ReasonProps) {
  if (source === 'manifests') return <p>The proxy reads its objects from files. There are no watches.</p>;
  return (
    <table>
      <caption class="spoken">Watches of the API server</caption>
      <thead>
        <tr>
          <th scope="col">Watch</th>
          <th scope="col">State</th>
          <th scope="col">Last data</th>
        </tr>
      </thead>
      <tbody>
        {watches.map(({ path, synced, silentSeconds, problem }) => (
          <tr key={path}>
            <td class="mono">{path}</td>
            <td class={problem ? 'bad' : synced ? 'good' : 'warn'}>
              {problem ?? (synced ? 'good' : 'not listed yet')}
            </td>
            <td>{silentSeconds === undefined ? '–' : `${Math.round(silentSeconds)} s ago`}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Syncs({ status: { families, syncs, failedSyncs } }: ReasonProps) {
  return (
    <>
      {families.map(({ family, error, lastSync, pendingSeconds, servicePorts }) => (
        <p key={family}>
          <strong>{family}</strong> {servicePorts.programmed.toLocaleString('en')} service ports, last success{' '}
          {lastSync === undefined ? 'never' : <Age time={lastSync} />}
          {pendingSeconds !== undefined && `, changes wait for ${Math.round(pendingSeconds)} s`}
          {error !== undefined && <span class="bad"> {error}</span>}
        </p>
      ))}
      <table>
        <caption class="spoken">The last syncs</caption>
        <thead>
          <tr>
            <th scope="col">Sync</th>
            <th scope="col">Family</th>
            <th scope="col" class="number">
              Ports
            </th>
            <th scope="col" class="number">
              Took
            </th>
          </tr>
        </thead>
        <tbody>
          {syncs.map(({ at, family, full, servicePorts, milliseconds, error }) => (
            <tr key={`${at} ${family}`}>
              <td>
                <Age time={at} />
              </td>
              <td>
                {family}, {full ? 'full' : 'partial'} {error !== undefined && <span class="bad">{error}</span>}
              </td>
              <td class="number">{servicePorts.toLocaleString('en')}</td>
              <td class="number">{millisecondsText(milliseconds)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="quiet">
        {failedSyncs === 0 ? 'No sync failed since the start.' : `${failedSyncs} syncs failed since the start.`}{' '}
        <a href={formatAddress({ view: 'timeline' })}>Timeline</a>
      </p>
    </>
  );
}

function Drift({ status: { drift } }: ReasonProps) {
  const { repairs, last } = drift;
  if (repairs === 0) return <p>No other program has changed what the proxy wrote.</p>;
  return (
    <>
      <p>The proxy repaired its rules {repairs === 1 ? 'once' : `${repairs} times`} since the start.</p>
      {last && (
        <dl class="facts">
          <dt>Last repair</dt>
          <dd>
            <Age time={last.at} />, {last.family}
          </dd>
          <dt>Cause</dt>
          <dd>{last.cause}</dd>
          <dt>Written</dt>
          <dd>{last.written}</dd>
        </dl>
      )}
      <p>
        <a href={formatAddress({ view: 'timeline' })}>Timeline</a>
      </p>
    </>
  );
}
