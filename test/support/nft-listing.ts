import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import type { NftFamily } from '../../src/kernel/nftables/family.ts';
import {
  type Element,
  NftablesSocket,
  printElementOf,
  printRule,
  type SetOrMap,
} from '../../src/kernel/nftables/index.ts';
import { runIn } from './run-in.ts';

/** The rules as `nft list table` prints them, each after the name of its chain: `services: jump masquerading`. */
export function listedByNft(namespace: NetworkNamespace, family: NftFamily, table: string): string[] {
  const rules: string[] = [];
  let chain: string | undefined;
  for (const line of runIn(namespace, 'nft', ['list', 'table', family, table]).split('\n')) {
    const opened = /^\tchain (\S+) \{$/.exec(line);
    if (opened) chain = opened[1];
    else if (line === '\t}') chain = undefined;
    else if (chain && !/^\t\t(type \S+ hook|comment ")/.test(line)) rules.push(`${chain}: ${line.trim()}`);
  }
  return rules;
}

/** The same rules, listed over netlink and printed by our own code. */
export function listedHere(namespace: NetworkNamespace, family: NftFamily, table: string): string[] {
  const socket = NftablesSocket.open({ namespace });
  try {
    const sets = new Map([...socket.listSets(family, table)].map(set => [set.name, set]));
    const anonymous = (name: string) => {
      const set = name.startsWith('__') ? sets.get(name) : undefined;
      return set && elementsText(set, [...socket.listElements(family, table, set)]);
    };
    return [...socket.listRules(family, table)].map(({ chain, expressions, comment }) => {
      const text = printRule(family, expressions, anonymous);
      return `${chain}: ${text}${comment === undefined ? '' : ` comment "${comment}"`}`;
    });
  } finally {
    socket.close();
  }
}

/** Sorts the elements as nft does. The kernel lists them in the order of its table. */
function elementsText(set: SetOrMap, elements: readonly Element[]): string {
  const texts = elements.map(element => printElementOf(set, element, 'whole'));
  return `{ ${texts.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).join(', ')} }`;
}
