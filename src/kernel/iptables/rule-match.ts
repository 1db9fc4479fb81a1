import { splitRule } from './rule-text.ts';
import type { SavedChain } from './save.ts';

/**
 * Whether a chain holds a rule. This is for programs without `-C` (before 1.4.11). iptables-save changes the order of
 * words and adds prefix lengths, so this is a guess: a rule matches if it has the same number of words and contains
 * every wanted word. Each word of a comment counts separately. Marks are compared without leading zeros, as
 * iptables-save prints them.
 */
export function holdsRule(chain: SavedChain, rule: readonly string[]): boolean {
  const wanted = rule.flatMap(comparableWords);
  return chain.rules.some(({ text }) => {
    const words = splitRule(text).flatMap(comparableWords);
    if (words.length !== wanted.length) return false;
    const present = new Set(words);
    return wanted.every(word => present.has(word));
  });
}

function comparableWords(word: string): string[] {
  return word.split(/\s+/).map(part => part.replaceAll(/\b0x0+(?=[0-9a-f])/gi, '0x'));
}
