import {
  drop,
  type Expression,
  ipDaddr,
  matchSet,
  metaL4proto,
  type NftSet,
  reject,
  type Selector,
  thDport,
  type Verdict,
} from '../../../kernel/nftables/index.ts';
import type { Frontend } from '../../../plan/index.ts';
import { type ChainRules, chainRules } from './chain-rules.ts';
import type { Layout } from './layout.ts';

export const REJECT_CHAIN = 'reject-chain';

type Denial = 'reject' | 'drop';

/** What denies packets to a frontend, and the set that counts them if the mode counts. */
export interface DenialPlace {
  readonly set: NftSet | undefined;
  readonly verdict: Verdict;
}

export function denialPlace(layout: Layout, { ip }: Pick<Frontend, 'ip'>, denial: Denial): DenialPlace {
  const { serviceRejects, serviceDrops, nodePortRejects, nodePortDrops } = layout;
  const kind = ip === undefined ? 'nodeport' : 'service';
  const sets = {
    service: { reject: serviceRejects, drop: serviceDrops },
    nodeport: { reject: nodePortRejects, drop: nodePortDrops },
  };
  const set = sets[kind][denial];
  if (set) return { set, verdict: { kind: 'goto', chain: chainName(kind, denial) } };
  return { set, verdict: denial === 'drop' ? { kind: 'drop' } : { kind: 'goto', chain: REJECT_CHAIN } };
}

/** Policy Local drops connections where another node has endpoints. Source ranges drop those of other sources. */
export function mayDrop({ policy, firewall }: Frontend): boolean {
  return firewall !== undefined || policy === 'Local';
}

/** The chains that count a packet and then reject or drop it. Without counting there are none. */
export function countedDenials(layout: Layout): readonly ChainRules[] {
  const frontend = [ipDaddr(layout.nft), metaL4proto, thDport];
  const nodePort = [metaL4proto, thDport];
  const rejected = reject(layout.nft);
  return [
    ...counted(chainName('service', 'reject'), frontend, layout.serviceRejects, rejected),
    ...counted(chainName('nodeport', 'reject'), nodePort, layout.nodePortRejects, rejected),
    ...counted(chainName('service', 'drop'), frontend, layout.serviceDrops, drop),
    ...counted(chainName('nodeport', 'drop'), nodePort, layout.nodePortDrops, drop),
  ];
}

function counted(
  name: string,
  key: readonly Selector[],
  set: NftSet | undefined,
  deny: Expression,
): readonly ChainRules[] {
  return set ? [chainRules(name, [matchSet(key, set.name)], [[deny]])] : [];
}

function chainName(kind: 'service' | 'nodeport', denial: Denial): string {
  return `count-${kind}-${denial}`;
}
