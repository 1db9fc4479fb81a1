import { type Iptables, quoteRule } from '../../kernel/iptables/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { readRecentClients } from '../../kernel/recent-clients.ts';
import { appendTo } from '../../lib/append-to.ts';
import { reachableEndpoints, type ServicePortPlan } from '../../plan/index.ts';
import { concernsFrontends, type FrontendRules, frontendTexts } from '../iptables-frontend-rules.ts';
import { readChains, type WantedChain } from '../iptables-read-back.ts';
import { type KernelEntry, type KernelReading, MAX_PINNED_CLIENTS, type PinnedClient } from '../read-back.ts';
import { localnetEntry } from './machine/sysctls.ts';
import { Chain, chainsOf } from './names.ts';
import {
  filterRulesAfter,
  filterRulesBefore,
  JUMPS,
  NAT_FIXED_CHAINS,
  natFixedRules,
  nodePortRules,
  SHARED_CHAINS,
  type Table,
} from './rules/fixed-rules.ts';
import type { RenderInput } from './rules/render-input.ts';
import { chainOfRule } from './rules/restore-text.ts';
import type { RuleOptions } from './rules/rule-options.ts';
import { ownChains } from './rules/service-chains.ts';
import { allSharedRules, wantedFrontends } from './rules/service-rules.ts';

export interface ReadBackInput extends RenderInput, Pick<FrontendRules, 'isServicePort'> {
  readonly iptables: Iptables;
  readonly options: RuleOptions;
  readonly namespace: NetworkNamespace | undefined;
}

/** Reads what the tables have for one service port: its chains, its rules in shared chains, and the chains on its way. */
export async function readBackIptables(input: ReadBackInput): Promise<KernelReading> {
  const chains = [...builtInChains(), ...fixedChains(input), ...sharedChains(input), ...wantedOwnChains(input)];
  const { entries, incomplete } = await readChains(input.iptables, chains);
  const pinned = pinnedClients(input);
  const isCut = pinned.length > MAX_PINNED_CLIENTS;
  return {
    entries: [...entries, ...sysctls(input)],
    affinity: pinned.slice(0, MAX_PINNED_CLIENTS),
    incomplete: incomplete ?? (isCut ? `the mode read only ${MAX_PINNED_CLIENTS} pinned clients` : undefined),
  };
}

function builtInChains(): readonly WantedChain[] {
  const byChain = new Map<string, (typeof JUMPS)[number][]>();
  for (const jump of JUMPS) appendTo(byChain, `${jump.table} ${jump.from}`, jump);
  return [...byChain.values()].flatMap(jumps => {
    const [first] = jumps;
    const rules = jumps.map(({ rule }) => quoteRule(rule));
    return first ? [{ table: first.table, chain: first.from, rules, others: 'built-in' }] : [];
  });
}

/** The kubelet has rules in KUBE-FIREWALL too. */
function fixedChains({ options }: ReadBackInput): readonly WantedChain[] {
  const nat = natFixedRules(options);
  return [
    wantedChain('filter', Chain.FORWARD, filterRulesAfter(options), 'own'),
    wantedChain('filter', Chain.FIREWALL, filterRulesBefore(options), () => false),
    ...NAT_FIXED_CHAINS.map(chain => wantedChain('nat', chain, nat, 'own')),
  ];
}

function sharedChains({ plan, options, isServicePort }: ReadBackInput): readonly WantedChain[] {
  const { filter, nat } = allSharedRules(plan, options);
  const rules: Readonly<Record<Table, readonly string[]>> = { filter, nat: [...nat, ...nodePortRules(options)] };
  const texts = textsOf(plan);
  const { svc, svl, ext, fw } = chainsOf(plan);
  const frontendRules = { plan, frontends: wantedFrontends(plan), ownChains: [svc, svl, ext, fw], isServicePort };
  return (['filter', 'nat'] as const).flatMap(table =>
    SHARED_CHAINS[table].map(chain => ({
      ...wantedChain(table, chain, rules[table], rule => concernsFrontends(rule, frontendRules)),
      texts,
    })),
  );
}

function wantedOwnChains({ plan, options, withComments }: ReadBackInput): readonly WantedChain[] {
  const { chains, rules } = ownChains(plan, options, withComments);
  return chains.map(chain => wantedChain('nat', chain, rules, 'own'));
}

/** `lines`: rules of several chains. */
function wantedChain(
  table: Table,
  chain: string,
  lines: readonly string[],
  others: WantedChain['others'],
): WantedChain {
  const rules = lines.filter(line => chainOfRule(line) === chain).map(line => line.slice(`-A ${chain} `.length));
  return { table, chain, rules, others };
}

/** What a rule of a shared chain has, as iptables-save prints it, if it is for this service port or its frontends. */
function textsOf(plan: ServicePortPlan): readonly string[] {
  const { svc } = chainsOf(plan);
  return [
    'kubernetes service nodeports',
    svc.slice('KUBE-SVC-'.length),
    ...frontendTexts(wantedFrontends(plan)),
    ...(plan.port.healthCheckNodePort === 0 ? [] : [`--dport ${plan.port.healthCheckNodePort} `]),
  ];
}

function sysctls({ plan, options, namespace }: ReadBackInput): readonly KernelEntry[] {
  const hasNodePort = plan.frontends.some(({ kind }) => kind === 'NodePort');
  return hasNodePort && options.machine.localhostNodePorts ? [localnetEntry(namespace)] : [];
}

function pinnedClients({ plan, namespace }: ReadBackInput): readonly PinnedClient[] {
  const { affinitySeconds } = plan.port;
  if (affinitySeconds === 0) return [];
  const { sep } = chainsOf(plan);
  const pinned: PinnedClient[] = [];
  for (const endpoint of reachableEndpoints(plan.endpoints)) {
    for (const { ip, secondsAgo } of readRecentClients(sep(endpoint), MAX_PINNED_CLIENTS + 1, namespace)) {
      // The kernel removes an address only when the next client comes.
      if (secondsAgo !== undefined && secondsAgo >= affinitySeconds) continue;
      const secondsLeft = secondsAgo === undefined ? undefined : Math.ceil(affinitySeconds - secondsAgo);
      pinned.push({ client: ip, endpoint: endpoint.text, secondsLeft });
    }
    if (pinned.length > MAX_PINNED_CLIENTS) break;
  }
  return pinned;
}
