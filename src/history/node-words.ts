import { LABEL_ZONE, type Node } from '../api/index.ts';
import type { Change } from '../lib/change.ts';

/** What changed in the Node, in words. Undefined if nothing changed that a proxy uses. */
export function nodeWords(change: Change<Node>): string | undefined {
  if (change.type !== 'updated') return change.type;
  const [from, to] = [partsOf(change.from), partsOf(change.to)];
  const words = Object.entries(to).flatMap(([name, now]) => {
    const before = from[name as keyof typeof from];
    return before === now ? [] : [`${name} ${before || 'none'} → ${now || 'none'}`];
  });
  return words.length === 0 ? undefined : words.join('; ');
}

function partsOf({ metadata, podCIDRs, addresses, taints = [] }: Node) {
  return {
    addresses: addresses.map(({ address }) => address).join(', '),
    'pod CIDRs': podCIDRs.join(', '),
    zone: metadata.labels[LABEL_ZONE] ?? '',
    taints: taints.join(', '),
    'deletion time': metadata.deletionTimestamp ?? '',
  };
}
