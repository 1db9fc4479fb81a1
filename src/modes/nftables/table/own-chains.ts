import {
  dnatTo,
  type Expression,
  goto,
  ipSaddr,
  matchAddress,
  matchL4proto,
  matchRandom,
  matchSet,
  type NftSet,
  returns,
  updateElement,
} from '../../../kernel/nftables/index.ts';
import type { Endpoint } from '../../../model/index.ts';
import { hostCidr } from '../../../net/index.ts';
import type { Frontend, ServicePortPlan } from '../../../plan/index.ts';
import { endpointBase, servicePortBase } from '../names.ts';
import { type ChainRules, chainRules, type RuleBody } from './chain-rules.ts';
import { denialPlace } from './denials.ts';
import type { Layout } from './layout.ts';

// Few service ports have session affinity or source ranges. These service ports have chains of their own.

/** The chain that drops packets to load-balancer IPs if their source is not allowed. It returns for allowed packets. */
export function firewallChain(
  layout: Layout,
  plan: ServicePortPlan,
  frontends: readonly Frontend[],
): ChainRules | undefined {
  const guarded = frontends.find(frontend => frontend.firewall);
  const firewall = guarded?.firewall;
  if (!firewall) return undefined;
  const { verdict } = denialPlace(layout, guarded, 'drop');
  // A packet from the node to its own load balancer may have the load balancer's address as its source.
  const own = firewall.includesNode
    ? frontends.flatMap(({ kind, ip }) => (kind === 'LoadBalancerIP' && ip ? [hostCidr(ip)] : []))
    : [];
  const allowed = [...firewall.sourceRanges, ...own].map(
    (range): RuleBody => [[...matchAddress('saddr', range), returns]],
  );
  return chainRules(`firewall-${servicePortBase(plan)}`, ...allowed, [[{ kind: 'verdict', verdict }]]);
}

/** The clients that this endpoint serves. The kernel forgets a client that does not come back within the timeout. */
export function affinitySet(layout: Layout, plan: ServicePortPlan, endpoint: Endpoint): NftSet {
  return {
    kind: 'set',
    name: `affinity-${endpointBase(plan, endpoint)}`,
    type: layout.clusterIPs.type,
    flags: ['dynamic', 'timeout'],
    timeout: plan.port.affinitySeconds * 1000,
    // Packets add elements, so the set needs a limit. This is nft's default.
    size: 65535,
  };
}

/** The chain that remembers the client and sends the connection to this endpoint. */
export function endpointChain(layout: Layout, plan: ServicePortPlan, endpoint: Endpoint): ChainRules {
  return chainRules(
    endpointChainName(plan, endpoint),
    [updateElement(affinitySet(layout, plan, endpoint).name, [ipSaddr(layout.nft)])],
    [[...matchL4proto(plan.port.protocol.toLowerCase()), ...dnatTo(endpoint.ip, endpoint.port)]],
  );
}

export function endpointChainName(plan: ServicePortPlan, endpoint: Endpoint): string {
  return `endpoint-${endpointBase(plan, endpoint)}`;
}

/**
 * The chain picks the endpoint that served the client before. For a new client it picks any endpoint, each with the same
 * probability. It has rules and no map for that, because upstream deletes such a chain when its Service is gone. It
 * could not delete the chain if a map of ours held a reference.
 */
export function affinityPick(
  layout: Layout,
  name: string,
  plan: ServicePortPlan,
  endpoints: readonly Endpoint[],
): ChainRules {
  const known = endpoints.map((endpoint): RuleBody => [toKnownEndpoint(layout, plan, endpoint)]);
  const any = endpoints.map((endpoint, slot): RuleBody => {
    const left = endpoints.length - slot;
    return [[...(left > 1 ? matchRandom(left) : []), goto(endpointChainName(plan, endpoint))]];
  });
  return chainRules(name, ...known, ...any);
}

/** Goes to the endpoint if it served the client before. */
export function toKnownEndpoint(layout: Layout, plan: ServicePortPlan, endpoint: Endpoint): readonly Expression[] {
  const isKnown = matchSet([ipSaddr(layout.nft)], affinitySet(layout, plan, endpoint).name);
  return [...isKnown, goto(endpointChainName(plan, endpoint))];
}
