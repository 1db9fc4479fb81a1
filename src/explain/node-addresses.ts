import { isNodeIPKnown } from '../model/index.ts';
import { FAMILIES, type Ip, parseIp } from '../net/index.ts';
import type { Facts } from './facts.ts';

/** The addresses of the node: those of its interfaces, or those of the Node without a kernel to ask. */
export function nodeIPsOf({ interfaceIPs, state }: Pick<Facts, 'interfaceIPs' | 'state'>): readonly Ip[] {
  const { nodeIPs } = state.nodeOptions;
  const known = FAMILIES.filter(family => isNodeIPKnown(nodeIPs, family)).map(family => nodeIPs[family]);
  if (interfaceIPs !== undefined) return [...new Set([...interfaceIPs, ...known])];
  const named = (state.ownNode?.addresses ?? []).flatMap(({ address }) => parseIp(address) ?? []);
  return [...new Set([...named, ...known])];
}
