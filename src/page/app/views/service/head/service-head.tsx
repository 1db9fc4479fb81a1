import './head.css';
import type { PortDetail, ServiceDetail, ServiceRow } from '../../../../../inspect/index.ts';
import { formatAddress, serviceAddress } from '../../../address.ts';
import { StateBadge } from '../../../parts/state-badge.tsx';
import { Age } from '../../../parts/time.tsx';
import { pageInfo } from '../../../state/page-info.ts';
import { Connections } from '../connections/connections-plot.tsx';
import { frontendId } from '../picture/model.ts';
import type { Selection } from '../picture/selection.ts';
import { balanceWords } from './balance-words.ts';
import { CopyAs } from './copy-as.tsx';
import { askedFrontend, explainTarget } from './explain-target.ts';
import { stateAdvice } from './state-advice.ts';

interface ServiceHeadProps {
  readonly namespace: string;
  readonly name: string;
  /** Undefined until the page knows it. */
  readonly row: ServiceRow | undefined;
  readonly detail: ServiceDetail | undefined;
  readonly port: PortDetail | undefined;
  readonly selection: Selection;
}

export function ServiceHead({ namespace, name, row, detail, port, selection }: ServiceHeadProps) {
  const key = `${namespace}/${name}`;
  const chosen = port?.frontends.find(each => frontendId(each) === selection.to);
  const frontend = askedFrontend(port, chosen, row?.addresses ?? []);
  const command = pageInfo.value?.command ?? 'kube-proxy';
  const parameters = { from: selection.from ?? '', to: explainTarget({ namespace, name, port, frontend }) };
  return (
    <header class="service-head">
      <div class="view-head">
        <h1>
          <span class="quiet">{namespace}/</span>
          <bdi>{name}</bdi>
        </h1>
        {row && <span class="quiet">{row.type}</span>}
        {row && <StateBadge state={row.state} />}
        <span class="actions">
          <a class="button" href={formatAddress({ view: 'ask', parameters })}>
            Ask
          </a>
          <a class="button" href={formatAddress({ view: 'rules', parameters: { service: key } })}>
            Rules
          </a>
          <CopyAs question={{ namespace, name, command, port, from: selection.from, frontend }} />
        </span>
      </div>
      <div class="head-body">
        <div class="head-facts">
          {row && <StateReasons row={row} owners={ownersOf(detail)} />}
          {row && <Facts detail={detail} row={row} port={port} />}
        </div>
        {row && row.state !== 'notProxied' && <Connections service={key} connections={row.connections} />}
      </div>
    </header>
  );
}

/** The Services that own addresses which this one wants. */
function ownersOf(detail: ServiceDetail | undefined): readonly string[] {
  return [...new Set(detail?.ports.flatMap(({ conflicts }) => conflicts.map(({ owner }) => owner)))];
}

interface StateReasonsProps {
  readonly row: ServiceRow;
  /** `ns/name` */
  readonly owners: readonly string[];
}

/** Why the state is so, and what to do. A Service that works needs no words. */
function StateReasons({ row, owners }: StateReasonsProps) {
  const { state, reasons } = row;
  if (state === 'programmed') return null;
  const { meaning, advice } = stateAdvice(row);
  const tone = state === 'notProxied' ? '' : state === 'waiting' || state === 'noLocalEndpoints' ? ' warn' : ' bad';
  return (
    <div class={`note${tone} reasons`}>
      <strong>{meaning}</strong>
      {reasons.length > 0 && (
        <ul>
          {reasons.map(reason => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
      )}
      {advice !== undefined && <span class="quiet">{advice}</span>}
      {owners.map(owner => (
        <a key={owner} href={serviceAddress(owner)}>
          Go to {owner}
        </a>
      ))}
    </div>
  );
}

interface FactsProps {
  readonly detail: ServiceDetail | undefined;
  readonly row: ServiceRow;
  readonly port: PortDetail | undefined;
}

function Facts({ detail, row, port }: FactsProps) {
  const { object } = detail ?? {};
  return (
    <dl class="facts">
      <dt>Policies</dt>
      <dd>{policiesText(port)}</dd>
      <dt>Changed</dt>
      <dd>{row.changed === undefined ? 'before the history begins' : <Age time={row.changed} />}</dd>
      {object?.hasSelector === false && (
        <>
          <dt>Selector</dt>
          <dd>none: no controller makes its EndpointSlices</dd>
        </>
      )}
      <Labels labels={object?.labels} />
      <Annotations annotations={object?.annotations} />
    </dl>
  );
}

function policiesText(port: PortDetail | undefined): string {
  if (!port) return '–';
  const { internalTrafficPolicy, externalTrafficPolicy, affinitySeconds, healthCheckNodePort, topology, balance } =
    port;
  return [
    `internal ${internalTrafficPolicy}`,
    externalTrafficPolicy && `external ${externalTrafficPolicy}`,
    affinitySeconds !== undefined && `session affinity ${affinitySeconds} s`,
    balance && `balance ${balanceWords(balance)}`,
    healthCheckNodePort !== undefined && `health check at node port ${healthCheckNodePort}`,
    topology,
  ]
    .filter(text => text)
    .join(' · ');
}

type PairsOfTexts = Readonly<Record<string, string>>;

function Labels({ labels = {} }: { readonly labels: PairsOfTexts | undefined }) {
  const entries = Object.entries(labels);
  if (entries.length === 0) return null;
  return (
    <>
      <dt>Labels</dt>
      <dd class="pairs">
        {entries.map(([name, value]) => (
          <code key={name}>{`${name}=${value}`}</code>
        ))}
      </dd>
    </>
  );
}

/** Annotations may be long, so they are closed. */
function Annotations({ annotations }: { readonly annotations: PairsOfTexts | undefined }) {
  const entries = Object.entries(annotations ?? {});
  if (entries.length === 0) return null;
  return (
    <>
      <dt>Annotations</dt>
      <dd>
        <details class="annotations">
          <summary>{entries.length}</summary>
          <dl>
            {entries.map(([name, value]) => (
              <div key={name}>
                <dt class="mono">{name}</dt>
                <dd>
                  <pre>{value}</pre>
                </dd>
              </div>
            ))}
          </dl>
        </details>
      </dd>
    </>
  );
}
