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

interface ChainLine {
  readonly chain: string;
  readonly line: string;
}

/** A service port has its own rules in these chains. The order of service ports does not matter to any packet. */
const DISPATCH_CHAIN = /^-A (?:KUBE-SERVICES|KUBE-EXTERNAL-SERVICES|KUBE-NODEPORTS|KUBE-PROXY-FIREWALL) /;

/**
 * The rules by the name of their chain, and the chains that are not built in. The order of the rules of a chain stays,
 * apart from the order of service ports. KUBE-FIREWALL is left out, because it stays after a change of the mode
 * (MODE-11).
 */
export function sortedByChain(saved: string): string {
  let table = '';
  const lines: ChainLine[] = [];
  for (const line of saved.split('\n')) {
    if (line.startsWith('*')) table = line;
    const [, chain] = /^(?::(?=\S+ -)|-A )(\S+)/.exec(line) ?? [];
    if (chain && !line.includes('KUBE-FIREWALL')) lines.push({ chain: `${table} ${chain}`, line });
  }
  return sortedBy(lines, orderOf)
    .map(({ chain, line }) => `${chain} ${line}`)
    .join('\n');
}

/** Chains by name. Within a chain: the rules of service ports by name, then all other rules as they are. */
function orderOf({ chain, line }: ChainLine): string {
  const [, servicePort] = /--comment "([^" ]+\/[^" ]+)/.exec(line) ?? [];
  return servicePort && DISPATCH_CHAIN.test(line)
    ? `${chain} 1 ${servicePort}`
    : `${chain} ${line.startsWith(':') ? 0 : 2}`;
}

/** The sort is stable. */
function sortedBy<T>(values: readonly T[], key: (value: T) => string): readonly T[] {
  return values.toSorted((one, other) => (key(one) < key(other) ? -1 : Number(key(one) > key(other))));
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
