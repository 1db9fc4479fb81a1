import type { NetworkNamespace } from '../../kernel/netns.ts';
import { NftablesSocket } from '../../kernel/nftables/index.ts';
import { Budget } from './budget.ts';
import type { Finding, OtherRules, PacketPath, RuleFinding } from './finding.ts';
import { type HookSource, readSources } from './hook-sources.ts';
import { type PacketView, stagesOf } from './packet-view.ts';
import { type Routing, readRouting } from './routing.ts';
import { settingFindings } from './settings.ts';
import { type Drop, Walk } from './walk.ts';

const TIMEOUT_MS = 2000;
const MAX_RULES = 20_000;
const MAX_FINDINGS = 100;

export interface OtherRulesOptions {
  /** By default the namespace of this process. It must stay open until the answer is there. */
  readonly namespace?: NetworkNamespace | undefined;
  /** By default two seconds. */
  readonly timeoutMs?: number | undefined;
  /** How many rules to evaluate. By default 20,000. */
  readonly maxRules?: number | undefined;
}

/** What drops or rejects the packet on its way, or may: rules of other programs, settings and routes. */
export async function findOtherRules(path: PacketPath, options: OtherRulesOptions = {}): Promise<OtherRules> {
  const [found] = await findOtherRulesOn([path], options);
  return found ?? { findings: [], unread: [], incomplete: undefined };
}

/** The same for several paths of one family, in their order. The rules are read only once. */
export async function findOtherRulesOn(
  paths: readonly PacketPath[],
  options: OtherRulesOptions = {},
): Promise<readonly OtherRules[]> {
  const { namespace, timeoutMs = TIMEOUT_MS, maxRules = MAX_RULES } = options;
  const [first] = paths;
  if (!first) return [];
  const budget = new Budget({ maxRules, timeoutMs });
  const socket = NftablesSocket.open({ namespace });
  try {
    const { sources, unread } = await readSources(first.packet.family, { socket, namespace, budget });
    const found: OtherRules[] = [];
    for (const path of paths) {
      const routing = readRouting(path, namespace);
      const settings = settingFindings(path, routing, namespace);
      const findings = [...settings, ...(await followPath(path, routing, sources, budget))];
      if (findings.length > MAX_FINDINGS) budget.leaveOut(`there are more than ${MAX_FINDINGS} findings`);
      found.push({ findings: findings.slice(0, MAX_FINDINGS), unread, incomplete: budget.incomplete });
    }
    return found;
  } finally {
    socket.close();
  }
}

async function followPath(
  path: PacketPath,
  routing: Routing,
  sources: readonly HookSource[],
  budget: Budget,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const stage of stagesOf(path, routing)) {
    const here = sources.filter(({ hook }) => hook === stage.hook).sort((a, b) => a.priority - b.priority);
    for (const source of here) findings.push(...(await followChain(source, stage.view(source.priority), budget)));
  }
  return findings;
}

/** Follows the packet through one base chain. */
async function followChain(source: HookSource, view: PacketView, budget: Budget): Promise<readonly RuleFinding[]> {
  const walk = new Walk(source.rules, view, budget);
  const toPolicy = await walk.run(source.chain);
  const findings: RuleFinding[] = [];
  for (const drop of walk.drops.slice(0, MAX_FINDINGS + 1)) {
    if (!source.isOwnChain(drop.chain)) findings.push(await ruleFinding(source, drop));
  }
  if (source.policy === 'drop' && toPolicy) findings.push(policyFinding(source, toPolicy));
  return findings;
}

async function ruleFinding(source: HookSource, { chain, rule, verdict, unknown }: Drop): Promise<RuleFinding> {
  const text = await rule.text();
  return { kind: 'rule', ...placeOf(source), chain, verdict, text, comment: rule.comment, ...certaintyOf(unknown) };
}

function policyFinding(source: HookSource, unknown: readonly string[]): RuleFinding {
  const { chain, policyText: text } = source;
  const verdict = 'drop';
  return { kind: 'policy', ...placeOf(source), chain, verdict, text, comment: undefined, ...certaintyOf(unknown) };
}

function placeOf({ tool, family, table, hook, priority }: HookSource) {
  return { tool, family, table, hook, priority };
}

function certaintyOf(unknown: readonly string[]): Pick<RuleFinding, 'certainty' | 'unknown'> {
  return { certainty: unknown.length === 0 ? 'drops' : 'may drop', unknown };
}
