import { quoteRule } from '../../kernel/iptables/index.ts';
import { appendTo } from '../../lib/append-to.ts';
import { type Ip, joinHostPort } from '../../net/index.ts';
import type { ServicePortPlan } from '../../plan/index.ts';
import { commentName } from '../comment-name.ts';
import { concernsFrontends, type FrontendRules, frontendTexts } from '../iptables-frontend-rules.ts';
import type { WantedChain } from '../iptables-read-back.ts';
import { type KernelEntry, type KernelReading, MAX_PINNED_CLIENTS } from '../read-back.ts';
import { CHAINS, TABLES } from './names.ts';
import { JUMPS, type Jump, jumpWords } from './portals/jumps.ts';
import type { PortalRules } from './portals/portal-rules.ts';
import type { RenderOptions } from './portals/render-options.ts';
import type { ServiceProxy } from './proxies/service-proxy.ts';
import { neededPolicies, type PortalRule, render } from './render.ts';

export interface ReadBackInput extends Pick<FrontendRules, 'isServicePort'> {
  readonly plan: ServicePortPlan;
  readonly options: RenderOptions;
  readonly listenIP: Ip;
  readonly rules: Pick<PortalRules, 'read'>;
  /** Undefined if the service port is not served. */
  readonly proxy: Pick<ServiceProxy, 'openPorts' | 'pinnedClients'> | undefined;
}

/** Reads the rules that lead to the proxies of one service port, and which of the proxies listen. */
export async function readBackUserspace(input: ReadBackInput): Promise<KernelReading> {
  const { rules, proxy } = input;
  const { entries, incomplete } = await rules.read([...builtInChains(), ...portalChains(input)]);
  const pinned = proxy?.pinnedClients(MAX_PINNED_CLIENTS + 1) ?? [];
  const isCut = pinned.length > MAX_PINNED_CLIENTS;
  return {
    entries: [...entries, ...listeners(input)],
    affinity: pinned.slice(0, MAX_PINNED_CLIENTS),
    relayPorts: { ...proxy?.openPorts },
    incomplete: incomplete ?? (isCut ? `the mode read only ${MAX_PINNED_CLIENTS} pinned clients` : undefined),
  };
}

function builtInChains(): readonly WantedChain[] {
  const jumps = new Map<string, Jump[]>();
  for (const jump of JUMPS) appendTo(jumps, `${jump.table} ${jump.from}`, jump);
  return [...jumps.values()].flatMap((list): WantedChain[] => {
    const [first] = list;
    const rules = list.map(jump => quoteRule(jumpWords(jump)));
    return first ? [{ table: first.table, chain: first.from, rules, others: 'built-in' }] : [];
  });
}

/** All service ports share these chains. */
function portalChains(input: ReadBackInput): readonly WantedChain[] {
  const { plan, isServicePort } = input;
  const { frontends } = plan;
  const wanted = wantedRules(input);
  const texts = [...frontendTexts(frontends), `--comment "${commentName(plan)}"`];
  const others = (rule: string) => concernsFrontends(rule, { plan, frontends, ownChains: [], isServicePort });
  return TABLES.flatMap(table =>
    CHAINS[table].map((chain): WantedChain => {
      const rules = wanted.filter(rule => rule.chain === chain).map(({ text }) => text);
      return { table, chain, rules, others, texts };
    }),
  );
}

export type ServedPort = Pick<ReadBackInput, 'plan' | 'options' | 'listenIP' | 'proxy'>;

/** The rules of a service port, with the ports at which its proxies listen. */
export function wantedRules({ plan, options, proxy }: ServedPort): readonly PortalRule[] {
  if (!proxy) return [];
  const needed = neededPolicies(plan);
  const ports = Object.entries(proxy.openPorts).filter(([policy]) => [...needed].some(name => name === policy));
  return render(plan, Object.fromEntries(ports), options);
}

export function listeners({ plan, listenIP, proxy }: ServedPort): readonly KernelEntry[] {
  const { protocol } = plan.port;
  if (protocol === 'SCTP') return [];
  return [...neededPolicies(plan)].map(policy => {
    const port = proxy?.openPorts[policy];
    const found = port === undefined ? undefined : `${protocol} ${joinHostPort(listenIP, port)}`;
    const wanted = found ?? `${protocol} ${listenIP}, any port`;
    return { kind: 'listener', place: `this process, for policy ${policy}`, wanted, found };
  });
}
