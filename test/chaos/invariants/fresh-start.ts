import type { NetworkNamespace } from '../../../src/kernel/netns.ts';
import { canonicalRuleset, nft } from '../../support/nftables-mode.ts';
import { runIn } from '../../support/run-in.ts';
import { sortedByChain } from './saved-chains.ts';
import type { Violation } from './violation.ts';

/** All rules of a proxy in the namespace, in an order that does not depend on history and without counters. */
export function kernelState(namespace: NetworkNamespace): string {
  const saved = ['iptables-save', 'ip6tables-save'].map(program => sortedByChain(program, runIn(namespace, program)));
  const tables = nft(namespace, 'list', 'tables')
    .split('\n')
    .filter(line => line.endsWith(' kube-proxy'))
    .map(line => nft(namespace, 'list', ...line.split(' ')));
  const rules = canonicalRuleset(namespace, tables.join('')).replaceAll(', ', ',\n');
  return [rules, ...saved]
    .join('\n')
    .replaceAll(/\[\d+:\d+\]/g, '[0:0]')
    .replaceAll(/packets \d+ bytes \d+/g, 'packets 0 bytes 0');
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

/** `kube-proxy plan --diff` compares everything in the kernel with what the objects of the API server want. */
export function judgePlan(output: string, errors: string): Violation | undefined {
  if (output === 'no difference\n') return undefined;
  const facts = (output + errors).split('\n').slice(0, 20).join('\n    ');
  return { invariant: 'the kernel has what plan --diff wants', facts };
}
