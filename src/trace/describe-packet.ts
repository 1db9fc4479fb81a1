import { Status } from '../kernel/conntrack/index.ts';
import type { Hook, TracedConnection } from '../kernel/nftables/index.ts';
import type { ChainVisit } from './assembler.ts';
import { describeRule, type RuleSources } from './describe-rule.ts';
import { lastChainOf, MarkingChain } from './marking-table.ts';
import type { MatchState } from './matched-elements.ts';
import { destinationText, type PacketHeaders, sourceText } from './packet-headers.ts';
import type { Ruleset } from './ruleset.ts';
import type { ChainStep, Ends, RuleStep, TracedPacket, TraceOutcome, TraceStep } from './traced-packet.ts';

export interface PacketSources extends RuleSources {
  /** The table that marks packets. Its chains are no steps. */
  readonly table: string;
  interfaceName(index: number | undefined): string | undefined;
  /** The connection of the packet, as `conntrack -L` prints it. */
  flow(first: PacketHeaders): Promise<string | undefined>;
  readonly now: () => number;
}

/** Returns undefined if the kernel sent no headers of IP. */
export async function describePacket(
  visits: readonly ChainVisit[],
  sources: PacketSources,
): Promise<TracedPacket | undefined> {
  const seen = visits.flatMap(({ headers }) => headers ?? []);
  const [first, last] = [seen[0], seen.at(-1)];
  if (!first || !last) return undefined;
  if (sources.ruleset.refresh()) sources.iptables.clear();
  const steps: TraceStep[] = [];
  let current = first;
  const meta: MatchState['meta'] = new Map();
  for (const visit of visits) {
    const { headers } = visit;
    if (headers && rewritten(current, headers)) {
      steps.push({ kind: 'rewrite', from: endsOf(current), to: endsOf(headers) });
      current = headers;
    }
    if (visit.table === sources.table) continue;
    steps.push(await describeVisit(visit, meta, sources));
  }
  return {
    at: sources.now(),
    protocol: first.protocol,
    tcpFlags: first.tcpFlags,
    first: endsOf(first),
    last: endsOf(last),
    inInterface: sources.interfaceName(visits[0]?.raw.iif?.index),
    services: [...new Set(rulesOf(steps).flatMap(({ services }) => services))],
    steps,
    skipsNat: skipsNat(visits, steps, sources),
    flow: await sources.flow(first),
    outcome: outcomeOf(visits, steps, sources),
  };
}

async function describeVisit(visit: ChainVisit, meta: MatchState['meta'], sources: PacketSources): Promise<ChainStep> {
  const { family, table, chain, raw, headers } = visit;
  const base = sources.ruleset.base(family, table, chain);
  const state = { network: raw.network, transport: raw.transport, protocol: headers?.protocolNumber ?? 0, meta };
  const rules: RuleStep[] = [];
  for (const message of visit.messages) {
    const rule = await describeRule(message, state, sources);
    if (rule) rules.push(rule);
  }
  return {
    kind: 'chain',
    hook: base?.hook,
    priority: base?.priority,
    table: `${family} ${table}`,
    chain,
    outInterface: sources.interfaceName(raw.oif?.index),
    rules,
  };
}

function outcomeOf(
  visits: readonly ChainVisit[],
  steps: readonly TraceStep[],
  { table, interfaceName, ruleset }: PacketSources,
): TraceOutcome {
  const chains = steps.filter(step => step.kind === 'chain');
  for (const step of chains) {
    const rule = step.rules.find(({ verdict }) => verdict === 'drop');
    if (!rule) continue;
    return { kind: rule.isReject ? 'rejected' : 'dropped', table: step.table, rule, baseChain: step.chain };
  }
  const last = visits.at(-1);
  if (last?.table === table && last.chain === lastChainOf('input')) return { kind: 'delivered' };
  if (last?.table === table && last.chain === lastChainOf('postrouting')) {
    return { kind: 'left', interface: interfaceName(last.raw.oif?.index) ?? 'an unknown interface' };
  }
  return { kind: 'lost', after: last && hookOf(last, ruleset) };
}

/** The chain that marks packets is no base chain. Both hooks that it is for use it. */
function hookOf({ family, table, chain, raw }: ChainVisit, ruleset: Ruleset): Hook | undefined {
  if (chain === MarkingChain.MARK) return raw.iif ? 'prerouting' : 'output';
  return ruleset.base(family, table, chain)?.hook;
}

/** Kernels before 6.16 do not send the connection. There, a new address without a nat chain proves the same. */
function skipsNat(visits: readonly ChainVisit[], steps: readonly TraceStep[], { ruleset }: PacketSources): boolean {
  const connection = visits.map(visit => visit.connection).find(found => found !== undefined);
  if (connection) return isConfirmed(connection);
  const isNat = (visit: ChainVisit) => ruleset.base(visit.family, visit.table, visit.chain)?.type === 'nat';
  return steps.some(({ kind }) => kind === 'rewrite') && !visits.some(isNat);
}

function isConfirmed({ status }: TracedConnection): boolean {
  return (status & Status.CONFIRMED) !== 0;
}

function rulesOf(steps: readonly TraceStep[]): readonly RuleStep[] {
  return steps.flatMap(step => (step.kind === 'chain' ? step.rules : []));
}

function rewritten(from: PacketHeaders, to: PacketHeaders): boolean {
  const [a, b] = [endsOf(from), endsOf(to)];
  return a.source !== b.source || a.destination !== b.destination;
}

function endsOf(headers: PacketHeaders): Ends {
  return { source: sourceText(headers), destination: destinationText(headers) };
}
