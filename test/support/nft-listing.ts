import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import type { NftFamily } from '../../src/kernel/nftables/family.ts';
import {
  type Element,
  NftablesSocket,
  printElementOf,
  printRule,
  type SetOrMap,
} from '../../src/kernel/nftables/index.ts';

/** What the reference program does with a script inside a namespace. */
export function nft(namespace: NetworkNamespace, args: readonly string[], input?: string): string {
  const done = namespace.run(() => spawnSync('nft', args, { input, encoding: 'utf8' }));
  assert.equal(done.status, 0, `nft ${args.join(' ')}: ${done.signal ?? ''}${done.stderr}`);
  return done.stdout;
}

/** The rules in `nft list table`, each behind the name of its chain: `services: jump masquerading`. */
export function listedByNft(namespace: NetworkNamespace, family: NftFamily, table: string): string[] {
  const rules: string[] = [];
  let chain: string | undefined;
  for (const line of nft(namespace, ['list', 'table', family, table]).split('\n')) {
    const opened = /^\tchain (\S+) \{$/.exec(line);
    if (opened) chain = opened[1];
    else if (line === '\t}') chain = undefined;
    else if (chain && !/^\t\t(type \S+ hook|comment ")/.test(line)) rules.push(`${chain}: ${line.trim()}`);
  }
  return rules;
}

/** The same from what the kernel lists, printed here. */
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

/** nft sorts the elements; the kernel lists them as they lie in its table. */
function elementsText(set: SetOrMap, elements: readonly Element[]): string {
  const texts = elements.map(element => printElementOf(set, element, 'whole'));
  return `{ ${texts.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).join(', ')} }`;
}
