import type { CountedRule, Iptables } from '../../../kernel/iptables/index.ts';
import { Breaks } from '../../../lib/breaks.ts';
import type { Family } from '../../../net/index.ts';
import { planId, reachableEndpoints, type ServicePortPlan } from '../../../plan/index.ts';
import { commentName } from '../../comment-name.ts';
import type { ServicePortTraffic, TrafficFigures } from '../../traffic/index.ts';
import { chainsOf } from '../names.ts';

/** The longest time that the program may take. */
const MAX_MS = 10_000;

const SEP = 'KUBE-SEP-';
/** As iptables-save prints a rule that rejects or drops: its comment has the service port and the reason. */
const DENIAL = /--comment "(\S+) (?:has no (?:local )?endpoints|traffic not accepted by \S+)" .*-j (REJECT|DROP)/;

/** The chains of endpoints by plan: their names are hashes. */
const chains = new WeakMap<ServicePortPlan, ReadonlyMap<string, string>>();

/** What the counters of rules say. Rules in nat see only the first packet of each connection. */
interface RuleCounts {
  /** By chain of an endpoint. */
  readonly connections: ReadonlyMap<string, number>;
  /** By the name of a service port in comments. */
  readonly denied: ReadonlyMap<string, TrafficFigures>;
}

/** The connections of a service port so far, and the last counters of its endpoints' chains. */
interface Counted {
  readonly connections: number;
  readonly chains: ReadonlyMap<string, number>;
}

const NOTHING: Counted = { connections: 0, chains: new Map() };

/** The traffic of one family. The sum of a service port outlives its endpoints, and rules that are written again. */
export class RuleTraffic {
  readonly #iptables: Iptables;
  readonly #family: Family;
  #counted: ReadonlyMap<string, Counted> = new Map();

  constructor(iptables: Iptables, family: Family) {
    this.#iptables = iptables;
    this.#family = family;
  }

  async *read(plans: Iterable<ServicePortPlan>): AsyncGenerator<ServicePortTraffic> {
    const counts = await readRules(this.#iptables);
    const counted = new Map<string, Counted>();
    const breaks = new Breaks();
    for (const plan of plans) {
      const id = planId(plan);
      const now = advanced(this.#counted.get(id) ?? NOTHING, plan, counts);
      counted.set(id, now);
      yield trafficOf(this.#family, plan, now, counts);
      if (breaks.isDue) await breaks.take();
    }
    this.#counted = counted;
  }
}

function advanced(before: Counted, plan: ServicePortPlan, counts: RuleCounts): Counted {
  const chains = new Map<string, number>();
  let { connections } = before;
  for (const chain of endpointChains(plan).keys()) {
    const now = counts.connections.get(chain) ?? 0;
    const known = before.chains.get(chain) ?? 0;
    // A smaller counter belongs to a rule that was written again.
    connections += now >= known ? now - known : now;
    chains.set(chain, now);
  }
  return { connections, chains };
}

async function readRules(iptables: Iptables): Promise<RuleCounts> {
  const connections = new Map<string, number>();
  const denied = new Map<string, TrafficFigures>();
  await iptables.ruleCounters(rule => {
    if (rule.chain.startsWith(SEP)) addConnections(connections, rule);
    else if (rule.table === 'filter') addDenied(denied, rule);
  }, MAX_MS);
  return { connections, denied };
}

function addConnections(connections: Map<string, number>, { chain, packets, rule }: CountedRule): void {
  if (rule.includes('-j DNAT ')) connections.set(chain, (connections.get(chain) ?? 0) + packets);
}

function addDenied(denied: Map<string, TrafficFigures>, { packets, rule }: CountedRule): void {
  const [, name, target] = DENIAL.exec(rule) ?? [];
  if (name === undefined) return;
  const { rejected = 0, dropped = 0 } = denied.get(name) ?? {};
  denied.set(
    name,
    target === 'DROP' ? { rejected, dropped: dropped + packets } : { rejected: rejected + packets, dropped },
  );
}

function trafficOf(
  family: Family,
  plan: ServicePortPlan,
  { connections, chains: counters }: Counted,
  { denied }: RuleCounts,
): ServicePortTraffic {
  const endpoints = new Map<string, TrafficFigures>();
  for (const [chain, endpoint] of endpointChains(plan))
    endpoints.set(endpoint, { connections: counters.get(chain) ?? 0 });
  const { rejected = 0, dropped = 0 } = denied.get(commentName(plan)) ?? {};
  return { family, service: plan.service, port: plan.port.name, connections, rejected, dropped, endpoints };
}

function endpointChains(plan: ServicePortPlan): ReadonlyMap<string, string> {
  const known = chains.get(plan);
  if (known) return known;
  const { sep } = chainsOf(plan);
  const made = new Map(reachableEndpoints(plan.endpoints).map(endpoint => [sep(endpoint), endpoint.text]));
  chains.set(plan, made);
  return made;
}
