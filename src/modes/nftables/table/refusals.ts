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

type Refusal = 'reject' | 'drop';

/** How packets to a frontend are refused, and the set that counts them if the mode counts. */
export interface RefusalPlace {
  readonly set: NftSet | undefined;
  readonly verdict: Verdict;
}

export function refusalPlace(layout: Layout, { ip }: Pick<Frontend, 'ip'>, refusal: Refusal): RefusalPlace {
  const isNodePort = ip === undefined;
  const set =
    refusal === 'reject'
      ? isNodePort
        ? layout.nodePortRejects
        : layout.serviceRejects
      : isNodePort
        ? layout.nodePortDrops
        : layout.serviceDrops;
  if (set) return { set, verdict: { kind: 'goto', chain: chainName(isNodePort ? 'nodeport' : 'service', refusal) } };
  return { set, verdict: refusal === 'drop' ? { kind: 'drop' } : { kind: 'goto', chain: REJECT_CHAIN } };
}

/** Policy Local drops connections where another node has endpoints. Source ranges drop those of other sources. */
export function mayDrop({ policy, firewall }: Frontend): boolean {
  return firewall !== undefined || policy === 'Local';
}

/** The chains that count a packet and then refuse it. Without counting there are none. */
export function countedRefusals(layout: Layout): readonly ChainRules[] {
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
  refuse: Expression,
): readonly ChainRules[] {
  return set ? [chainRules(name, [matchSet(key, set.name)], [[refuse]])] : [];
}

function chainName(kind: 'service' | 'nodeport', refusal: Refusal): string {
  return `count-${kind}-${refusal}`;
}
