import type { OtherRules, RuleFinding } from '../../machine/index.ts';
import type { KernelReading } from '../../modes/index.ts';
import type { DetectedCaller } from '../caller-detection.ts';
import type { NextStep } from '../explanation.ts';
import type { Facts } from '../facts.ts';
import { type Finding, finding, listed } from '../finding.ts';
import type { Outcome } from '../outcome.ts';
import type { MetFrontend } from '../target.ts';
import { type Connection, directPaths, type NamedPath, relayedPaths, translatedPaths } from './packet-paths.ts';

type MachineFinding = OtherRules['findings'][number];

const MAX_LINES = 10;

/** What drops or rejects the packet on its way beside the proxy's own rules. */
export async function otherRulesStep(
  met: MetFrontend,
  detected: DetectedCaller,
  outcome: Outcome,
  facts: Facts,
  reading: Promise<KernelReading | undefined>,
): Promise<Finding | undefined> {
  const { kernel } = facts;
  if (!kernel?.otherRules || outcome.kind !== 'answered') return undefined;
  const connection = { met, detected, outcome, facts };
  const paths = await pathsOf(connection, reading);
  const rules = await kernel.otherRules(paths.map(({ path }) => path));
  const found = new Map<string, Found>();
  for (const [i, { to }] of paths.entries()) {
    for (const each of rules[i]?.findings ?? []) addFound(found, each, to);
  }
  const unread = new Set(rules.flatMap(each => each.unread));
  const incomplete = new Set(rules.flatMap(each => each.incomplete ?? []));
  const rest = [
    ...(unread.size === 0 ? [] : [`Not evaluated: ${listed([...unread])}.`]),
    ...(incomplete.size === 0 ? [] : [`Not everything was read: ${[...incomplete].join('; ')}.`]),
  ];
  return stepOf([...found.values()], rest, incomplete.size > 0);
}

async function pathsOf(
  connection: Connection,
  reading: Promise<KernelReading | undefined>,
): Promise<readonly NamedPath[]> {
  const { outcome, facts } = connection;
  if (outcome.kind === 'answered' && outcome.at === 'socket') return directPaths(connection);
  return facts.mode.behaviour.isRelay ? relayedPaths(connection, await reading) : translatedPaths(connection);
}

interface Found {
  readonly finding: MachineFinding;
  readonly endpoints: string[];
}

function addFound(found: Map<string, Found>, each: MachineFinding, endpoint: string): void {
  const key = JSON.stringify(each);
  const known = found.get(key);
  if (known) known.endpoints.push(endpoint);
  else found.set(key, { finding: each, endpoints: [endpoint] });
}

function stepOf(found: readonly Found[], rest: readonly string[], isIncomplete: boolean): Finding {
  const sorted = [...found.filter(isSure), ...found.filter(each => !isSure(each))];
  const lines = sorted.slice(0, MAX_LINES).flatMap((each, i) => foundLines(each, i === 0));
  const details = [...lines, ...rest];
  const data = { findings: sorted.map(({ finding: each, endpoints }) => ({ ...each, endpoints })) };
  const [first] = sorted;
  if (!first) {
    const text = 'No other rule, setting or route of this machine drops the packet.';
    return finding('other rules', isIncomplete ? 'note' : 'good', text, { details, data });
  }
  if (!isSure(first)) {
    const { text, command } = nextStep(first.finding);
    const next = { text: `if it still fails, ${text}`, ...(command === undefined ? {} : { command }) };
    return finding(
      'other rules',
      'note',
      `${placeText(first.finding)} may ${verbOf(first.finding, 'may')} the packet.`,
      { details, data, next },
    );
  }
  return finding('other rules', 'bad', `${placeText(first.finding)} ${verbOf(first.finding)} the packet.`, {
    details,
    data,
    next: nextStep(first.finding),
  });
}

function isSure({ finding: { certainty } }: Found): boolean {
  return certainty === 'drops';
}

/** The text of the step has the place of the first finding already. The place of a setting is all of it. */
function foundLines(found: Found, isFirst: boolean): readonly string[] {
  const { finding: each, endpoints } = found;
  const mark = isSure(found) ? '✗' : '!';
  const unknown = each.unknown.length === 0 ? '' : `, depending on the ${listed(each.unknown)}`;
  const when = `n the way to ${listed(endpoints)}${unknown}`;
  const text = each.kind === 'sysctl' ? undefined : each.text;
  if (isFirst) return [...(text === undefined ? [] : [`${mark} ${text}`]), `O${when}.`];
  const effect = isSure(found) ? verbOf(each) : 'may drop';
  return [`${mark} ${placeText(each)} ${effect} the packet o${when}`, ...(text === undefined ? [] : [`    ${text}`])];
}

function placeText(each: MachineFinding): string {
  switch (each.kind) {
    case 'rule':
      return `A rule in ${tableText(each)}`;
    case 'policy':
      return `The policy of ${tableText(each)}`;
    case 'sysctl':
      return `The setting ${each.name} = ${each.value}`;
    case 'route':
      return `The routing table, which has no way to ${each.destination},`;
  }
}

function tableText({ tool, family, table, chain, hook }: RuleFinding): string {
  const place = tool === 'nft' ? `table ${family} ${table}` : `${tool} table ${table}`;
  return `${place}, chain ${chain}${chain.toLowerCase() === hook ? '' : ` (${hook})`}`;
}

function verbOf(each: MachineFinding, form: 'may' | 'does' = 'does'): string {
  const s = form === 'may' ? '' : 's';
  const verdict = 'verdict' in each && each.verdict;
  if (verdict === 'untrack') return `take${s} connection tracking, and so the translation, from`;
  return verdict === 'reject' && form === 'does' ? 'rejects' : `drop${s}`;
}

function nextStep(each: MachineFinding): NextStep {
  switch (each.kind) {
    case 'rule':
      return { text: 'change the rule in the program that wrote it', command: listCommand(each) };
    case 'policy':
      return { text: 'add a rule that accepts the packet, or change the policy', command: listCommand(each) };
    case 'sysctl':
      return { text: 'turn the setting on, on the node', command: `sysctl -w ${each.name}=1` };
    case 'route':
      return { text: 'check the routes of the node', command: `ip route get ${each.destination}` };
  }
}

function listCommand({ tool, family, table, chain }: RuleFinding): string {
  return tool === 'nft' ? `nft -a list chain ${family} ${table} ${chain}` : `${tool} -t ${table} -S ${chain}`;
}
