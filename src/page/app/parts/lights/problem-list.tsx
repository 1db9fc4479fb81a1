import { useEffect, useState } from 'preact/hooks';
import type { ProblemsAnswer, ProxyStatus } from '../../../../inspect/index.ts';
import type { Problem } from '../../../../lib/problem.ts';
import { formatAddress, serviceAddress } from '../../address.ts';
import { ask } from '../../api.ts';
import { ErrorNote, Loading } from '../notes.tsx';
import { problemCount } from './lights.ts';

/** A node may have thousands. The list of Services has them all. */
const MAX_SHOWN = 20;

/** The checks of `/readyz`, and everything that cannot be used. */
export function ProblemList({ status }: { readonly status: ProxyStatus }) {
  return (
    <>
      <ul class="checks">
        {status.checks.map(({ name, ready, note }) => (
          <li key={name}>
            <span class={ready ? 'good' : 'bad'}>
              <span aria-hidden="true">{ready ? '✓' : '✕'}</span> {name}
            </span>{' '}
            {!ready && 'not ready'} <span class="quiet">{note}</span>
          </li>
        ))}
      </ul>
      <Details count={problemCount(status)} />
      <p>
        <a href={formatAddress({ view: 'services', parameters: { filter: 'broken' } })}>Broken Services</a>
      </p>
    </>
  );
}

/** Reads them again when there are more or fewer. */
function Details({ count }: { readonly count: number }) {
  const [problems, setProblems] = useState<ProblemsAnswer | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const request = new AbortController();
    setError(undefined);
    ask<ProblemsAnswer>('v1/problems', {}, request.signal).then(setProblems, cause => {
      if (!request.signal.aborted) setError(cause);
    });
    return () => request.abort();
  }, [attempt, count]);
  if (error !== undefined) {
    return <ErrorNote title="The problems cannot be read." error={error} onRetry={() => setAttempt(attempt + 1)} />;
  }
  if (!problems) return <Loading what="the problems" />;
  const { input, setAside, conflicts } = problems;
  if (input.length + setAside.length + conflicts.length === 0) return <p>There are no problems.</p>;
  return (
    <>
      <Group
        title="The kernel refused"
        texts={setAside.map(port => [port.servicePort, `${port.family}: ${port.message}`])}
      />
      <Group title="Cannot be used" texts={input.map(problemTexts)} />
      <Group title="Address belongs to another Service" texts={conflicts.map(problemTexts)} />
    </>
  );
}

type ObjectAndText = readonly [object: string, text: string];

function problemTexts({ object, field, message, where }: Problem): ObjectAndText {
  return [object ?? where ?? '', field === undefined ? message : `${field} ${message}`];
}

function Group({ title, texts }: { readonly title: string; readonly texts: readonly ObjectAndText[] }) {
  if (texts.length === 0) return null;
  return (
    <section>
      <h3>
        {title} ({texts.length.toLocaleString('en')})
      </h3>
      <ul>
        {texts.slice(0, MAX_SHOWN).map(([object, text]) => (
          <li key={`${object} ${text}`}>
            <ObjectLink object={object} /> <span class="quiet">{text}</span>
          </li>
        ))}
      </ul>
      {texts.length > MAX_SHOWN && <p class="quiet">and {(texts.length - MAX_SHOWN).toLocaleString('en')} more</p>}
    </section>
  );
}

/** `Service shop/web`, or `shop/web:http` of a service port, leads to the Service. */
function ObjectLink({ object }: { readonly object: string }) {
  const [, key] = /^(?:Service )?([^/\s:]+\/[^/\s:]+)(?::\S*)?$/.exec(object) ?? [];
  return key === undefined ? <strong>{object}</strong> : <a href={serviceAddress(key)}>{object}</a>;
}
