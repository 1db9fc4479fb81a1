import type { ChainStep, Ends, RuleStep, TracedLine } from '../../../../trace/index.ts';
import { type AddressChange, type HookStation, packetWay } from './packet-way.ts';

/** The way of one packet: hooks as stations, with the chains and rules that it met, and what changed in it. */
export function PacketWayView({ packet }: { readonly packet: TracedLine }) {
  const { start, hooks, end } = packetWay(packet);
  const mark = end.verdict === 'good' ? '✓' : end.verdict === 'bad' ? '✕' : '?';
  return (
    <div class="packet-way">
      <p class="summary">{packet.summary}</p>
      {packet.skipsNat && <p class="quiet">The connection was tracked already, so the kernel asked no nat chain.</p>}
      <ol class="stations">
        <li class="start">
          <h3>{start}</h3>
          <AddressLine ends={packet.first} />
        </li>
        {hooks.map((station, i) => (
          // A packet may meet a hook twice.
          <HookView key={i} station={station} />
        ))}
        <li class={`end ${end.verdict}`}>
          <h3>
            {mark} {end.text}
          </h3>
          <AddressLine ends={end.ends} />
        </li>
      </ol>
      {packet.flow !== undefined && <p class="flow">conntrack: {packet.flow.replaceAll(/ +/g, ' ')}</p>}
    </div>
  );
}

interface LineProps {
  readonly ends: Ends;
  readonly isSourceNew?: boolean;
  readonly isDestinationNew?: boolean;
}

function AddressLine({ ends, isSourceNew = false, isDestinationNew = false }: LineProps) {
  return (
    <p class="ends">
      {isSourceNew ? <ins>{ends.source}</ins> : ends.source} →{' '}
      {isDestinationNew ? <ins>{ends.destination}</ins> : ends.destination}
    </p>
  );
}

function HookView({
  station: { hook, ends, isSourceNew, isDestinationNew, events },
}: {
  readonly station: HookStation;
}) {
  return (
    <li>
      <h3>{hook}</h3>
      <AddressLine ends={ends} isSourceNew={isSourceNew} isDestinationNew={isDestinationNew} />
      {events.map((event, i) =>
        event.kind === 'change' ? <ChangeView key={i} change={event} /> : <ChainView key={i} step={event} />,
      )}
    </li>
  );
}

function ChangeView({ change: { what, from, to } }: { readonly change: AddressChange }) {
  return (
    <p class="change">
      {what} <del>{from}</del> → <ins>{to}</ins>
    </p>
  );
}

function ChainView({ step: { table, chain, priority, outInterface, rules } }: { readonly step: ChainStep }) {
  return (
    <details
      class="chain"
      open={rules.some(({ services, isReject, verdict }) => services.length > 0 || isReject || verdict === 'drop')}
    >
      <summary>
        table {table}, chain {chain}
        <span class="quiet">
          {priority === undefined ? '' : ` priority ${priority}`}
          {outInterface === undefined ? '' : `, to ${outInterface}`}, {rules.length}{' '}
          {rules.length === 1 ? 'rule' : 'rules'}
        </span>
      </summary>
      <ol>
        {rules.map((rule, i) => (
          <RuleView key={i} rule={rule} baseChain={chain} />
        ))}
      </ol>
    </details>
  );
}

function RuleView({ rule, baseChain }: { readonly rule: RuleStep; readonly baseChain: string }) {
  const { chain, position, text, verdict, elements, services } = rule;
  const place = `${chain === baseChain ? '' : `${chain} `}${position ?? ''}`;
  return (
    <li class={verdict === 'drop' ? 'bad' : undefined}>
      <code>
        {place === '' ? '' : `${place}: `}
        {text}
      </code>
      {!text.endsWith(verdict) && <span class="verdict"> → {verdict}</span>}
      {services.map(service => (
        <span key={service} class="badge accent">
          {service}
        </span>
      ))}
      {elements.map(element => (
        <code key={element} class="element">
          {element}
        </code>
      ))}
    </li>
  );
}
