import type { TrafficPolicy } from '../../../api/index.ts';
import type { SavedTables } from '../../../kernel/iptables/index.ts';
import { appendTo } from '../../../lib/append-to.ts';
import { planId, type ServicePortPlan } from '../../../plan/index.ts';
import { CHAINS, type ChainName } from '../names.ts';
import type { ProxyPorts } from '../render.ts';

/** Stand for proxy ports in rules that are compared with the rules of a running proxy. */
export const STAND_IN_PORTS: Readonly<Record<TrafficPolicy, number>> = { Cluster: 1, Local: 2 };

/** A rule of a plan with stand-in ports, as iptables-save lists it. */
export interface ListedRule {
  readonly plan: ServicePortPlan;
  readonly chain: ChainName;
  readonly text: string;
}

/** The proxy ports of a proxy that runs on this machine, by the id of the plan. */
export type RunningPorts = ReadonlyMap<string, ProxyPorts>;

/** Finds the proxy ports of a running proxy in its rules: such a rule equals a wanted one, except for the port. */
export function runningPorts(wanted: Iterable<ListedRule>, present: SavedTables): RunningPorts {
  const portsByShape = new Map<string, number[]>();
  for (const chain of CHAINS.nat) {
    for (const { text } of present.get('nat')?.get(chain)?.rules ?? []) {
      const target = targetOf(chain, text);
      if (target) appendTo(portsByShape, target.shape, target.port);
    }
  }
  const running = new Map<string, ProxyPorts>();
  for (const { plan, chain, text } of wanted) {
    const target = targetOf(chain, text);
    // If the pod network is also a source range, two rules differ only in the port. Then their order decides.
    const port = target && portsByShape.get(target.shape)?.shift();
    if (port === undefined) continue;
    const policy = target?.port === STAND_IN_PORTS.Local ? 'Local' : 'Cluster';
    const id = planId(plan);
    running.set(id, { [policy]: port, ...running.get(id) });
  }
  return running;
}

/** Where a rule sends connections: `-j REDIRECT --to-ports 40001`, `-j DNAT --to-destination 10.0.0.1:40001`. */
const TARGET = /^(.* --to-(?:ports |destination \S+:))(\d+)$/;

function targetOf(chain: ChainName, text: string): { readonly shape: string; readonly port: number } | undefined {
  const [, shape, port] = TARGET.exec(text) ?? [];
  return shape === undefined ? undefined : { shape: `${chain} ${shape}`, port: Number(port) };
}
