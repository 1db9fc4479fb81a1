import {
  type Chain,
  type ChainType,
  drop,
  type Expression,
  type Hook,
  ipDaddr,
  ipSaddr,
  jump,
  map,
  markOr,
  markXor,
  masquerade,
  matchAddress,
  matchCtState,
  matchCtStatus,
  matchFibType,
  matchIifname,
  matchL4proto,
  matchMark,
  matchSet,
  metaL4proto,
  metaPriority,
  type NftMap,
  type NftSet,
  reject,
  type Selector,
  setPriority,
  thDport,
  vmap,
} from '../../../kernel/nftables/index.ts';
import type { LocalDetector, NodePortAddresses } from '../../../model/index.ts';
import { type Cidr, parseCidr } from '../../../net/index.ts';
import { baseChainRules, type ChainRules, chainRules, type RuleBody } from './chain-rules.ts';
import { countedDenials, REJECT_CHAIN } from './denials.ts';
import type { Layout } from './layout.ts';

/** What the fixed program depends on. */
export interface FixedProgramOptions {
  /** The bit of the packet mark that asks for masquerading. */
  readonly masqueradeMark: number;
  readonly masqueradeAll: boolean;
  readonly localDetector: LocalDetector | undefined;
  readonly nodePortAddresses: NodePortAddresses;
}

export const LOCALHOST_REJECT_CHAIN = 'localhost-reject';
const DSTNAT = -100;
const SRCNAT = 100;

/** Elements go to these chains, so the chains must exist before them. */
export function rejectChains(layout: Layout): readonly ChainRules[] {
  return [chainRules(REJECT_CHAIN, [[reject(layout.nft)]]), ...countedDenials(layout), ...localhostReject(layout)];
}

/** The chains that steer packets. A chain comes before the chains that jump to it. No element goes to one of them. */
export function steeringChains(layout: Layout, options: FixedProgramOptions): readonly ChainRules[] {
  const { nft } = layout;
  const mark = options.masqueradeMark;
  const daddr = ipDaddr(nft);
  const frontend = [daddr, metaL4proto, thDport];
  const isNew = matchCtState('new');
  const nodePort = [metaL4proto, thDport];
  const toNodePort = acceptsNodePorts(layout, options.nodePortAddresses, true);
  const ownFilter = (name: string, ...expressions: readonly Expression[][]) =>
    chainRules(name, ...expressions.map(body => [body] as const));
  return [
    ownFilter('firewall-check', vmap(frontend, layout.firewallIPs.name)),
    ownFilter('service-endpoints-check', vmap(frontend, layout.noEndpointServices.name)),
    ownFilter(
      'nodeport-endpoints-check',
      [
        ...acceptsNodePorts(layout, options.nodePortAddresses, false),
        ...vmap(nodePort, layout.noEndpointNodePorts.name),
      ],
      ...toLocalhostReject(layout),
    ),
    chainRules(
      'cluster-ips-check',
      [[...matchSet([daddr], layout.clusterIPs.name), reject(nft)], 'Reject traffic to invalid ports of ClusterIPs'],
      [[...matchSet([daddr], layout.serviceCIDRs.name), drop], 'Drop traffic to unallocated ClusterIPs'],
    ),
    chainRules(
      'masquerading',
      ...nodeMasquerading(layout, mark),
      [[...matchMark(mark, 'neq', 0), ...markXor(mark), masquerade('fully-random')]],
      [
        [
          ...matchCtStatus('dnat'),
          ...matchSet([ipSaddr(nft), daddr, metaL4proto, thDport], layout.hairpins.name),
          masquerade('fully-random'),
        ],
      ],
    ),
    chainRules(
      'services',
      ...clusterIPMasquerading(layout, options),
      ...count([], frontend, layout.serviceConnections),
      [vmap(frontend, layout.serviceChains.name)],
      [toTarget(frontend, layout.serviceNumbers, layout)],
      ...count(toNodePort, nodePort, layout.nodePortConnections),
      [[...toNodePort, ...vmap(nodePort, layout.nodePortChains.name)]],
      [[...toNodePort, ...toTarget(nodePort, layout.nodePortNumbers, layout)]],
    ),
    filter('filter-prerouting-pre-dnat', 'prerouting', DSTNAT - 10, [[...isNew, jump('firewall-check')]]),
    filter('filter-output-pre-dnat', 'output', DSTNAT - 10, [[...isNew, jump('firewall-check')]]),
    filter('filter-input', 'input', 0, [
      [...isNew, jump('nodeport-endpoints-check')],
      [...isNew, jump('service-endpoints-check')],
    ]),
    filter('filter-forward', 'forward', 0, [
      [...isNew, jump('service-endpoints-check')],
      [...isNew, jump('cluster-ips-check')],
    ]),
    filter('filter-output', 'output', 0, [
      [...isNew, jump('service-endpoints-check')],
      [...isNew, jump('cluster-ips-check')],
    ]),
    nat('nat-prerouting', 'prerouting', DSTNAT, 'services'),
    nat('nat-output', 'output', DSTNAT, 'services'),
    nat('nat-postrouting', 'postrouting', SRCNAT, 'masquerading'),
  ];
}

/**
 * Keeps the source port of a node process, so that its kernel and the endpoint name a connection by the same ports. The
 * endpoint then accepts a port that it still has in TIME_WAIT, because the timestamps of one port only grow.
 */
function nodeMasquerading({ keepsNodeSourcePorts }: Layout, mark: number): RuleBody[] {
  if (!keepsNodeSourcePorts) return [];
  const isMarked = matchMark(mark, 'neq', 0);
  const isOwnTcp = [...matchL4proto('tcp'), ...matchFibType('saddr', 'local')];
  return [[[...isMarked, ...isOwnTcp, ...markXor(mark), masquerade()], 'keep source ports of node processes']];
}

/**
 * Looks up the number of a chain, and goes to that chain. A map from frontends to chains would need one step only. But
 * the kernel walks through every map that holds chains whenever a chain changes, and does not walk through a map of
 * numbers. The packet's priority carries the number from one look-up to the other, because nft cannot list a rule that
 * feeds one look-up to another. That is safe: only the first packet of a connection comes here, routing sets the
 * priority of forwarded packets again, and the target chain resets it.
 */
function toTarget(key: readonly Selector[], numbers: NftMap, { targets }: Layout): Expression[] {
  return [...setPriority(map(key, numbers.name, 4)), ...vmap([metaPriority], targets.name)];
}

/**
 * A look-up without a verdict: the look-up itself counts. The maps that steer connections could count too, but a change
 * of the number of endpoints replaces their elements, and the counters would begin at zero again.
 */
function count(before: readonly Expression[], key: readonly Selector[], set: NftSet | undefined): RuleBody[] {
  return set ? [[[...before, ...matchSet(key, set.name)]]] : [];
}

/** Matches traffic from pods of this node, or with `neq` all other traffic. */
export function matchLocal(detector: LocalDetector, op: 'eq' | 'neq'): Expression[] {
  switch (detector.kind) {
    case 'source-cidr':
      return matchAddress('saddr', detector.cidr, op);
    case 'interface':
      return matchIifname(detector.name, op);
    case 'interface-prefix':
      return matchIifname(`${detector.prefix}*`, op);
  }
}

function clusterIPMasquerading(layout: Layout, options: FixedProgramOptions): (readonly [Expression[], string])[] {
  const { masqueradeAll, localDetector, masqueradeMark } = options;
  const toClusterIP = matchSet([ipDaddr(layout.nft)], layout.clusterIPs.name);
  if (masqueradeAll) return [[[...toClusterIP, ...markOr(masqueradeMark)], 'masquerade all clusterIP traffic']];
  if (!localDetector) return [];
  const expressions = [...toClusterIP, ...matchLocal(localDetector, 'neq'), ...markOr(masqueradeMark)];
  return [[expressions, 'masquerade clusterIP traffic from outside cluster']];
}

const LOOPBACK: Readonly<Record<Layout['family'], Cidr | undefined>> = {
  IPv4: parseCidr('127.0.0.0/8'),
  IPv6: parseCidr('::1/128'),
};

/** Before routing, the rule must look up whether the destination is local. In the input chain it always is. */
function acceptsNodePorts(layout: Layout, addresses: NodePortAddresses, beforeRouting: boolean): Expression[] {
  if (!addresses.matchAll) return matchSet([ipDaddr(layout.nft)], layout.nodePortIPs.name);
  const loopback = LOOPBACK[layout.family];
  return [
    ...(beforeRouting ? matchFibType('daddr', 'local') : []),
    ...(loopback ? matchAddress('daddr', loopback, 'neq') : []),
  ];
}

/** Counts a packet by its protocol, and rejects it. */
function localhostReject({ nft, localhostRejectedPackets: counters }: Layout): ChainRules[] {
  if (!counters) return [];
  return [chainRules(LOCALHOST_REJECT_CHAIN, [matchSet([metaL4proto], counters.name)], [[reject(nft)]])];
}

function toLocalhostReject({ family, localhostRejects }: Layout): Expression[][] {
  const loopback = LOOPBACK[family];
  if (!localhostRejects || !loopback) return [];
  return [[...matchAddress('daddr', loopback, 'eq'), ...vmap([metaL4proto, thDport], localhostRejects.name)]];
}

function filter(name: string, hook: Hook, priority: number, bodies: readonly Expression[][]): ChainRules {
  return baseChainRules(base(name, 'filter', hook, priority), ...bodies.map(body => [body] as const));
}

function nat(name: string, hook: Hook, priority: number, target: string): ChainRules {
  return baseChainRules(base(name, 'nat', hook, priority), [[jump(target)]]);
}

function base(name: string, type: ChainType, hook: Hook, priority: number): Chain {
  return { kind: 'chain', name, base: { type, hook, priority } };
}
