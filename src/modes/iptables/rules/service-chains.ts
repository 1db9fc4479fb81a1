import { type Endpoint, isExternallyAccessible } from '../../../model/index.ts';
import { formatCidr } from '../../../net/index.ts';
import { reachableEndpoints, type ServicePortPlan, slotsOf } from '../../../plan/index.ts';
import { commentName } from '../../comment-name.ts';
import { localMatch } from '../../iptables-words.ts';
import { Chain, chainsOf, type ServicePortChains } from '../names.ts';
import type { RuleOptions } from './rule-options.ts';
import { commented, destinationMatch, hasFirewall, internalChain, wantedFrontends } from './service-rules.ts';
import { matchesOf, usedEndpoints } from './turns-and-odds.ts';

/** The chains that belong to one service port, all in nat, and their rules as lines of iptables-restore. */
export interface OwnChains {
  readonly chains: readonly string[];
  readonly rules: readonly string[];
}

/** At most how many chains a plan has, without rendering it. */
export function maxChains({ endpoints }: ServicePortPlan): number {
  return endpoints.cluster.length + endpoints.local.length + 2;
}

const NOTHING: OwnChains = { chains: [], rules: [] };

export function ownChains(plan: ServicePortPlan, options: RuleOptions, withComments: boolean): OwnChains {
  if (!plan.endpoints.hasEndpoints) return NOTHING;
  const rendering = new Rendering(plan, options, withComments);
  rendering.run();
  return rendering;
}

class Rendering implements OwnChains {
  readonly chains: string[] = [];
  readonly rules: string[] = [];
  readonly #plan: ServicePortPlan;
  readonly #options: RuleOptions;
  readonly #withComments: boolean;
  readonly #name: string;
  readonly #chains: ServicePortChains;

  constructor(plan: ServicePortPlan, options: RuleOptions, withComments: boolean) {
    this.#plan = plan;
    this.#options = options;
    this.#withComments = withComments;
    this.#name = commentName(plan);
    this.#chains = chainsOf(plan);
  }

  run(): void {
    const { endpoints, port } = this.#plan;
    this.#clusterIPMasquerading();
    if (isExternallyAccessible(port)) this.#external();
    if (hasFirewall(this.#plan)) this.#firewall();
    const slots = slotsOf(this.#plan);
    this.#pick(this.#chains.svc, endpoints.cluster, slots.cluster);
    this.#pick(this.#chains.svl, endpoints.local, slots.local);
    for (const endpoint of this.#endpointsWithChain()) this.#endpoint(endpoint);
  }

  /** An endpoint without weight has no rule that jumps to it, except for the clients that it has already. */
  #endpointsWithChain(): readonly Endpoint[] {
    const { endpoints, port, balance } = this.#plan;
    if (!balance?.weights || port.affinitySeconds > 0) return reachableEndpoints(endpoints);
    const { cluster, local, hasEndpoints } = endpoints;
    return reachableEndpoints({
      cluster: usedEndpoints(cluster, balance),
      local: usedEndpoints(local, balance),
      hasEndpoints,
    });
  }

  #clusterIPMasquerading(): void {
    const frontend = wantedFrontends(this.#plan).find(({ kind }) => kind === 'ClusterIP');
    if (frontend?.action !== 'forward' || frontend.masquerade === 'never') return;
    const { localDetector } = this.#options;
    const outside = frontend.masquerade === 'always' || !localDetector ? '' : ` ${localMatch(localDetector, true)}`;
    const start = commented(internalChain(this.#plan, this.#chains), `"${this.#name} cluster IP"`);
    this.rules.push(`${start} ${destinationMatch(this.#plan, frontend)}${outside} -j ${Chain.MARK_MASQ}`);
  }

  #external(): void {
    const { ext, svc, svl } = this.#chains;
    const { localDetector } = this.#options;
    const { port, endpoints } = this.#plan;
    const add = (what: string, tail: string) =>
      this.rules.push(`${commented(ext, `"${what} for ${this.#name} external destinations"`)} ${tail}`);
    this.chains.push(ext);
    if (!port.externalPolicyLocal) {
      add('masquerade traffic', `-j ${Chain.MARK_MASQ}`);
      this.rules.push(`-A ${ext} -j ${svc}`);
      return;
    }
    if (localDetector) add('pod traffic', `${localMatch(localDetector)} -j ${svc}`);
    add('masquerade LOCAL traffic', `-m addrtype --src-type LOCAL -j ${Chain.MARK_MASQ}`);
    add('route LOCAL traffic', `-m addrtype --src-type LOCAL -j ${svc}`);
    if (endpoints.local.length > 0) this.rules.push(`-A ${ext} -j ${svl}`);
  }

  #firewall(): void {
    const { fw, ext } = this.#chains;
    const { port } = this.#plan;
    const allow = (source: string) =>
      this.rules.push(`${commented(fw, `"${this.#name} loadbalancer IP"`)} -s ${source} -j ${ext}`);
    this.chains.push(fw);
    for (const range of port.loadBalancerSourceRanges) allow(formatCidr(range));
    // A packet from the node to its own load balancer has the load balancer's address as its source.
    if (wantedFrontends(this.#plan).some(({ firewall }) => firewall?.includesNode))
      port.loadBalancerVIPs.forEach(allow);
    this.rules.push(commented(fw, `"other traffic to ${this.#name} will be dropped by ${Chain.PROXY_FIREWALL}"`));
  }

  #pick(chain: string, endpoints: readonly Endpoint[], slots: readonly Endpoint[]): void {
    if (endpoints.length === 0) return;
    const { port, balance } = this.#plan;
    const { affinitySeconds } = port;
    const start = ({ text }: Endpoint) =>
      this.#withComments ? commented(chain, `"${this.#name} -> ${text}"`) : `-A ${chain}`;
    this.chains.push(chain);
    if (affinitySeconds > 0) {
      for (const endpoint of endpoints) {
        const sep = this.#chains.sep(endpoint);
        const recent = `-m recent --name ${sep} --rcheck --seconds ${affinitySeconds} --reap`;
        this.rules.push(`${start(endpoint)} ${recent} -j ${sep}`);
      }
    }
    const { machine } = this.#options;
    const takesTurns = machine.keepsTurns && balance?.algorithm === 'round-robin' && !balance.weights;
    const used = takesTurns ? slots : usedEndpoints(endpoints, balance);
    const matchAt = matchesOf(used, balance, machine);
    for (const [i, endpoint] of used.entries()) {
      this.rules.push(`${start(endpoint)}${matchAt(i)} -j ${this.#chains.sep(endpoint)}`);
    }
  }

  #endpoint(endpoint: Endpoint): void {
    const sep = this.#chains.sep(endpoint);
    const { port } = this.#plan;
    const protocol = port.protocol.toLowerCase();
    const start = this.#withComments ? commented(sep, this.#name) : `-A ${sep}`;
    const remember = port.affinitySeconds > 0 ? ` -m recent --name ${sep} --set` : '';
    this.chains.push(sep);
    // An endpoint that connects to itself must see the node as the caller, or its answer would bypass the node.
    this.rules.push(`${start} -s ${endpoint.ip} -j ${Chain.MARK_MASQ}`);
    this.rules.push(`${start}${remember} -m ${protocol} -p ${protocol} -j DNAT --to-destination ${endpoint.text}`);
  }
}
