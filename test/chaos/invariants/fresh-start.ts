import type { NetworkNamespace } from '../../../src/kernel/netns.ts';
import { canonicalRuleset, nft } from '../../support/nftables-mode.ts';
import { runIn } from '../../support/run-in.ts';
import type { Violation } from './violation.ts';

/** All rules of a proxy in the namespace, in an order that does not depend on history and without counters. */
export function kernelState(namespace: NetworkNamespace): string {
  const saved = ['iptables-save', 'ip6tables-save'].map(program => sortedByChain(runIn(namespace, program)));
  const tables = nft(namespace, 'list', 'tables')
    .split('\n')
    .filter(line => line.endsWith(' kube-proxy'))
    .map(line => nft(namespace, 'list', ...line.split(' ')));
  return [canonicalRuleset(namespace, tables.join('')), ...saved]
    .join('\n')
    .replaceAll(', ', ',\n')
    .replaceAll(/\[\d+:\d+\]/g, '[0:0]')
    .replaceAll(/packets \d+ bytes \d+/g, 'packets 0 bytes 0');
}

/**
 * The rules by the name of their chain, and the chains that are not built in. The order of the rules of a chain stays.
 * KUBE-FIREWALL is left out, because it stays after a change of the mode (MODE-11).
 */
export function sortedByChain(saved: string): string {
  let table = '';
  const rules: { readonly chain: string; readonly line: string }[] = [];
  for (const line of saved.split('\n')) {
    if (line.startsWith('*')) table = line;
    const [, chain] = /^(?::(?=\S+ -)|-A )(\S+)/.exec(line) ?? [];
    if (chain && !line.includes('KUBE-FIREWALL')) rules.push({ chain: `${table} ${chain}`, line });
  }
  return rules
    .toSorted((one, other) => (one.chain < other.chain ? -1 : Number(one.chain > other.chain)))
    .map(({ chain, line }) => `${chain} ${line}`)
    .join('\n');
}

export function judgeEndState(atEnd: string, fresh: string): Violation | undefined {
  if (atEnd === fresh) return undefined;
  const freshLines = fresh.split('\n');
  const lines = atEnd.split('\n');
  const more = lines.filter(line => !freshLines.includes(line));
  const missing = freshLines.filter(line => !lines.includes(line));
  const few = (all: readonly string[]) => all.slice(0, 8).join('\n    ');
  const first = lines.findIndex((line, index) => line !== freshLines[index]);
  return {
    invariant: "the end state equals a fresh start's",
    facts:
      `${more.length} lines more:\n    ${few(more)}\n  ${missing.length} lines missing:\n    ${few(missing)}\n` +
      `  the first difference: ${lines[first]}\n  a fresh start has: ${freshLines[first]}`,
  };
}
