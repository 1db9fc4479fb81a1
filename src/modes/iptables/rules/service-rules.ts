import type { Frontend, ServicePortPlan } from '../../../plan/index.ts';
import { commentName } from '../../comment-name.ts';
import { Chain, chainsOf, type ServicePortChains } from '../names.ts';
import type { RuleOptions } from './rule-options.ts';

/** The rules of one service port in chains that all share, as lines of iptables-restore: `-A CHAIN …`. */
export interface SharedRules {
  readonly filter: readonly string[];
  readonly nat: readonly string[];
}

const NO_RULES: SharedRules = { filter: [], nat: [] };

/** The rules of the frontends that belong to the Service. */
export function sharedRules(plan: ServicePortPlan, options: RuleOptions): SharedRules {
  const rendering = new Rendering(plan, plan.frontends, options);
  rendering.run();
  rendering.healthCheck();
  return rendering;
}

/**
 * The rules of frontends that belong to another Service. They stand behind all other rules, so they only match if the
 * other Service has no endpoints.
 */
export function contestedRules(plan: ServicePortPlan, options: RuleOptions): SharedRules {
  if (plan.conflicts.length === 0) return NO_RULES;
  const frontends = plan.conflicts.map(({ frontend }) => frontend);
  const rendering = new Rendering(plan, frontends, options);
  rendering.run();
  return rendering;
}

/** The rules of all frontends that the Service wants. */
export function allSharedRules(plan: ServicePortPlan, options: RuleOptions): SharedRules {
  const own = sharedRules(plan, options);
  const contested = contestedRules(plan, options);
  if (contested === NO_RULES) return own;
  return { filter: [...own.filter, ...contested.filter], nat: [...own.nat, ...contested.nat] };
}

/** All frontends that a Service wants, also those that belong to another. */
export function wantedFrontends({ frontends, conflicts }: ServicePortPlan): readonly Frontend[] {
  return conflicts.length === 0 ? frontends : [...frontends, ...conflicts.map(({ frontend }) => frontend)];
}

/** Source ranges only matter if the Service has endpoints and load-balancer IPs. */
export function hasFirewall({ endpoints, port }: ServicePortPlan): boolean {
  const { loadBalancerVIPs, loadBalancerSourceRanges } = port;
  return endpoints.hasEndpoints && loadBalancerVIPs.length > 0 && loadBalancerSourceRanges.length > 0;
}

/** The chain for connections to the cluster IP. */
export function internalChain({ port }: ServicePortPlan, { svc, svl }: ServicePortChains): string {
  return port.internalPolicyLocal ? svl : svc;
}

/** Matches packets to a frontend that has an address. */
export function destinationMatch({ port }: ServicePortPlan, { ip, port: number }: Frontend): string {
  const protocol = port.protocol.toLowerCase();
  return `-m ${protocol} -p ${protocol} -d ${ip} --dport ${number}`;
}

/** `comment` must have quotes if it needs them. */
export function commented(chain: string, comment: string): string {
  return `-A ${chain} -m comment --comment ${comment}`;
}

class Rendering implements SharedRules {
  readonly filter: string[] = [];
  readonly nat: string[] = [];
  readonly #plan: ServicePortPlan;
  readonly #all: readonly Frontend[];
  readonly #options: RuleOptions;
  readonly #name: string;
  readonly #chains: ServicePortChains;

  constructor(plan: ServicePortPlan, frontends: readonly Frontend[], options: RuleOptions) {
    this.#plan = plan;
    this.#all = frontends;
    this.#options = options;
    this.#name = commentName(plan);
    this.#chains = chainsOf(plan);
  }

  run(): void {
    for (const frontend of this.#frontends('ClusterIP')) this.#clusterIP(frontend);
    for (const frontend of this.#frontends('ExternalIP')) {
      this.#forward(frontend, 'external IP', this.#chains.ext);
      this.#withoutEndpoints(frontend, Chain.EXTERNAL_SERVICES);
    }
    for (const frontend of this.#frontends('LoadBalancerIP')) this.#loadBalancerIP(frontend);
    for (const frontend of this.#frontends('LoadBalancerIP')) {
      this.#withoutEndpoints(frontend, Chain.EXTERNAL_SERVICES);
    }
    for (const frontend of this.#frontends('NodePort')) this.#nodePort(frontend);
  }

  /** The rule does not depend on endpoints: the health check server also answers if there are no local endpoints. */
  healthCheck(): void {
    const { healthCheckNodePort } = this.#plan.port;
    if (healthCheckNodePort === 0) return;
    const start = commented(Chain.NODEPORTS, `"${this.#name} health check node port"`);
    this.filter.push(`${start} -m tcp -p tcp --dport ${healthCheckNodePort} -j ACCEPT`);
  }

  #frontends(kind: Frontend['kind']): readonly Frontend[] {
    return this.#all.filter(frontend => frontend.kind === kind);
  }

  #clusterIP(frontend: Frontend): void {
    if (frontend.action === 'forward') {
      this.#forward(frontend, 'cluster IP', internalChain(this.#plan, this.#chains));
    } else {
      this.#withoutEndpoints(frontend, Chain.SERVICES);
    }
  }

  #loadBalancerIP(frontend: Frontend): void {
    const { ext, fw } = this.#chains;
    const isGuarded = hasFirewall(this.#plan);
    this.#forward(frontend, 'loadbalancer IP', isGuarded ? fw : ext);
    if (!isGuarded) return;
    const start = commented(Chain.PROXY_FIREWALL, `"${this.#name} traffic not accepted by ${fw}"`);
    this.filter.push(`${start} ${destinationMatch(this.#plan, frontend)} -j DROP`);
  }

  #nodePort({ port, action }: Frontend): void {
    const { localhostNodePorts, counters } = this.#options.machine;
    const protocol = this.#plan.port.protocol.toLowerCase();
    const match = `-m ${protocol} -p ${protocol}`;
    if (action !== 'reject') {
      const start = commented(Chain.NODEPORTS, this.#name);
      const jump = `-j ${this.#chains.ext}`;
      if (localhostNodePorts && counters.has('localhost_nps_accepted_pkts')) {
        const counted = '-m nfacct --nfacct-name localhost_nps_accepted_pkts';
        this.nat.push(`${start} ${match} -d 127.0.0.0/8 --dport ${port} ${counted} ${jump}`);
      }
      this.nat.push(`${start} ${match} --dport ${port} ${jump}`);
    }
    if (action === 'forward') return;
    const start = commented(Chain.EXTERNAL_SERVICES, this.#reason(action));
    this.filter.push(`${start} -m addrtype --dst-type LOCAL ${match} --dport ${port} -j ${action.toUpperCase()}`);
  }

  /** With policy Local and without local endpoints, traffic from pods and from the node itself is still forwarded. */
  #forward(frontend: Frontend, what: string, chain: string): void {
    if (frontend.action === 'reject') return;
    const start = commented(Chain.SERVICES, `"${this.#name} ${what}"`);
    this.nat.push(`${start} ${destinationMatch(this.#plan, frontend)} -j ${chain}`);
  }

  #withoutEndpoints(frontend: Frontend, chain: string): void {
    const { action } = frontend;
    if (action === 'forward') return;
    const start = commented(chain, this.#reason(action));
    this.filter.push(`${start} ${destinationMatch(this.#plan, frontend)} -j ${action.toUpperCase()}`);
  }

  #reason(action: 'reject' | 'drop'): string {
    return action === 'reject' ? `"${this.#name} has no endpoints"` : `"${this.#name} has no local endpoints"`;
  }
}
