import { splitRule } from '../kernel/iptables/index.ts';
import { formatCidr, hostCidr } from '../net/index.ts';
import type { Frontend, ServicePortPlan } from '../plan/index.ts';
import { commentName } from './comment-name.ts';

/** What a reading needs to find the rules of one service port among those of all others. */
export interface FrontendRules {
  readonly plan: ServicePortPlan;
  readonly frontends: readonly Frontend[];
  /** The chains of the service port. */
  readonly ownChains: readonly string[];
  /** Whether there is a service port of this name and protocol. */
  isServicePort(name: string, protocol: string): boolean;
}

/** What a rule for one of the frontends has, as iptables-save prints it. */
export function frontendTexts(frontends: readonly Frontend[]): readonly string[] {
  return frontends.map(({ ip, port }) => (ip === undefined ? `--dport ${port} ` : `-d ${formatCidr(hostCidr(ip))} `));
}

/** Whether a rule of a shared chain matches packets to the service port, although no other service port has the rule. */
export function concernsFrontends(rule: string, rules: FrontendRules): boolean {
  const { plan, frontends, ownChains, isServicePort } = rules;
  const words = splitRule(rule);
  const value = (option: string) => (words.includes(option) ? words[words.indexOf(option) + 1] : undefined);
  if (ownChains.includes(value('-j') ?? '')) return true;
  const protocol = value('-p');
  const [name = ''] = (value('--comment') ?? '').split(' ', 1);
  // Several Services may want the same external address.
  if (name !== commentName(plan) && protocol && isServicePort(name, protocol.toUpperCase())) return false;
  if (protocol !== undefined && protocol !== plan.port.protocol.toLowerCase()) return false;
  const port = value('--dport');
  return frontends.some(frontend => {
    if (port !== undefined && port !== String(frontend.port)) return false;
    if (frontend.ip === undefined) return port !== undefined;
    return value('-d') === formatCidr(hostCidr(frontend.ip));
  });
}
