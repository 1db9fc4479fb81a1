import type { TrafficPolicy } from '../../api/index.ts';
import { planId, planName, type ServicePortPlan } from '../../plan/index.ts';
import type { PreviewInput } from '../descriptor.ts';
import { listAsSaved, listRules } from '../iptables-listing.ts';
import type { UserspaceOptions } from './mode.ts';
import { differingText, listedTexts } from './portals/compare-rules.ts';
import { JUMPS } from './portals/jumps.ts';
import { AddressReader } from './portals/machine-addresses.ts';
import { listenIPOf, type RenderOptions, renderOptions } from './portals/render-options.ts';
import { fullText } from './portals/restore-text.ts';
import { runningPorts, STAND_IN_PORTS } from './portals/running-ports.ts';
import { neededPolicies, type PortalRule, render } from './render.ts';

const NAMES_EXPLAINED =
  '# The kernel chooses the port of a proxy when the proxy starts. <proxy port of SERVICE, POLICY> stands for that port.';

/**
 * The input of iptables-restore that a full write would use. It has the rules of all frontends: a preview does not know
 * which ports of this machine other programs have.
 */
export async function previewUserspace(options: UserspaceOptions, input: PreviewInput): Promise<string> {
  const renderedWith = renderOptionsOf(options, input);
  if (input.against === 'kernel') return differenceToKernel(renderedWith, input);
  const rules = renderAll(input.plans, renderedWith, proxyPortName);
  return withHeader(input, fullText(rules, JUMPS), true);
}

interface PlanRule extends PortalRule {
  readonly plan: ServicePortPlan;
}

type PortOf = (plan: ServicePortPlan, policy: TrafficPolicy) => number | string;

function renderAll(plans: readonly ServicePortPlan[], options: RenderOptions, portOf: PortOf): readonly PlanRule[] {
  const served = plans.filter(({ port }) => port.protocol !== 'SCTP');
  return served.flatMap(plan => {
    const ports = Object.fromEntries(Array.from(neededPolicies(plan), policy => [policy, portOf(plan, policy)]));
    return render(plan, ports, options).map(rule => ({ ...rule, plan }));
  });
}

const proxyPortName: PortOf = (plan, policy) => `<proxy port of ${planName(plan)}, ${policy}>`;

/** Takes the proxy ports of a running proxy from its rules. */
async function differenceToKernel(options: RenderOptions, input: PreviewInput): Promise<string> {
  const { family, plans } = input;
  const list = async (rules: readonly PlanRule[]) =>
    listedTexts(rules, await listAsSaved(family, [fullText(rules, [])], input));
  const present = await listRules(family, input);
  const standIns = renderAll(plans, options, (_plan, policy) => STAND_IN_PORTS[policy]);
  const listedStandIns = await list(standIns);
  const running = runningPorts(
    standIns.map((rule, i) => ({ ...rule, text: listedStandIns[i] ?? '' })),
    present,
  );
  const runningPort = (plan: ServicePortPlan, policy: TrafficPolicy) => running.get(planId(plan))?.[policy];
  const numbered = renderAll(plans, options, (plan, policy) => runningPort(plan, policy) ?? STAND_IN_PORTS[policy]);
  const listed = await list(numbered);
  const named = renderAll(plans, options, (plan, policy) => runningPort(plan, policy) ?? proxyPortName(plan, policy));
  const wanted = named.map((rule, i) => ({
    ...rule,
    listed: rule.text === numbered[i]?.text ? listed[i] : undefined,
  }));
  const hasNames = wanted.some(rule => rule.listed === undefined);
  return withHeader(input, differingText(wanted, present), hasNames);
}

/** `hasNames`: some rules have the names of proxy ports in place of numbers. */
function withHeader({ family }: PreviewInput, text: string, hasNames: boolean): string {
  if (text === '') return '';
  const program = family === 'IPv4' ? 'iptables-restore' : 'ip6tables-restore';
  const explanation = hasNames ? [NAMES_EXPLAINED] : [];
  return [`# ${program} --noflush`, ...explanation, text].join('\n');
}

function renderOptionsOf({ listenIP }: UserspaceOptions, { family, settings, namespace }: PreviewInput): RenderOptions {
  const reader = new AddressReader(namespace);
  try {
    return renderOptions(settings, listenIPOf(family, listenIP), reader.read(family).host);
  } finally {
    reader.close();
  }
}
