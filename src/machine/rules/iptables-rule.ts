import { splitRule } from '../../kernel/iptables/index.ts';
import { matchesWithoutOptions, matchOption } from './iptables-match.ts';
import { type Answer, invert } from './known-bytes.ts';
import type { PacketView } from './packet-view.ts';
import type { Effect, PossibleEffect } from './walk.ts';

/** One condition of a rule: `! -s 10.0.0.0/8`, or `--ctstate NEW` of the module conntrack. */
export interface Condition {
  readonly isInverted: boolean;
  /** `-s`, `--dport`, or `-m` for a module without options. */
  readonly option: string;
  readonly values: readonly string[];
  /** The module of `-m` that the option belongs to. */
  readonly module: string;
}

export interface ParsedRule {
  readonly conditions: readonly Condition[];
  /** Undefined if the rule only counts. */
  readonly target: { readonly kind: 'jump' | 'goto'; readonly name: string } | undefined;
  readonly comment: string | undefined;
}

/** Reads the text of a rule as iptables-save prints it: all matches come before the target. */
export function parseIptablesRule(text: string): ParsedRule {
  const words = splitRule(text);
  const conditions: Condition[] = [];
  let comment: string | undefined;
  let module = '';
  for (let at = 0; at < words.length; ) {
    const isInverted = words[at] === '!';
    if (isInverted) at++;
    const option = words[at++] ?? '';
    if (option === '-j' || option === '-g') {
      const kind = option === '-j' ? 'jump' : 'goto';
      // `-j CT --notrack` is what iptables prints for `-j NOTRACK`.
      const name = words.includes('--notrack') ? 'NOTRACK' : (words[at] ?? '');
      return { conditions, comment, target: { kind, name } };
    }
    const values: string[] = [];
    while (at < words.length && !isOption(words[at] ?? '')) values.push(words[at++] ?? '');
    if (option === '--comment') comment = values[0];
    else conditions.push({ isInverted, option, values, module });
    if (option === '-m') module = values[0] ?? '';
  }
  return { conditions, comment, target: undefined };
}

function isOption(word: string): boolean {
  return word === '!' || /^--?[a-z]/i.test(word);
}

/** Targets that end the way through the table, and NOTRACK. All other targets that are no chain let the packet go on. */
const TARGETS: ReadonlyMap<string, Effect['kind']> = new Map([
  ['ACCEPT', 'accept'],
  ['DROP', 'drop'],
  ['REJECT', 'reject'],
  ['RETURN', 'return'],
  ['DNAT', 'accept'],
  ['SNAT', 'accept'],
  ['MASQUERADE', 'accept'],
  ['REDIRECT', 'accept'],
  ['TPROXY', 'accept'],
  ['NOTRACK', 'untrack'],
  ['NFQUEUE', 'drop'],
  ['QUEUE', 'drop'],
]);

/** What the rule does with the packet. */
export function evaluateIptablesRule(
  rule: ParsedRule,
  view: PacketView,
  isChain: (name: string) => boolean,
): readonly PossibleEffect[] {
  const effect = effectOf(rule.target, isChain);
  if (!effect) return [];
  const unknown = new Set<string>();
  for (const condition of rule.conditions) {
    const { answer, reason } = evaluate(condition, view);
    if (answer === 'no') return [];
    if (answer === 'unknown') unknown.add(reason);
  }
  if (rule.target?.name.endsWith('QUEUE')) unknown.add('verdict of the program that reads the queue');
  return [{ effect, unknown: [...unknown] }];
}

function evaluate(condition: Condition, view: PacketView): { answer: Answer; reason: string } {
  const { option, isInverted, module } = condition;
  if (option === '-m') return matchesWithoutOptions(condition, view);
  const found = matchOption(condition, view);
  if (found) return { answer: isInverted ? invert(found.answer) : found.answer, reason: found.reason };
  return { answer: 'unknown', reason: `match ${module || option}` };
}

function effectOf(target: ParsedRule['target'], isChain: (name: string) => boolean): Effect | undefined {
  if (!target) return undefined;
  if (isChain(target.name)) return { kind: target.kind, chain: target.name };
  const kind = TARGETS.get(target.name);
  return kind === undefined || kind === 'jump' || kind === 'goto' ? undefined : { kind };
}
