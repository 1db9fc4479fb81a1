import { splitRule } from './rule-text.ts';
import type { SavedChain } from './save.ts';

/**
 * Whether a chain holds a rule, for programs older than `-C` (1.4.11). iptables-save puts words into another order and
 * adds prefix lengths, so this is a guess: as many words, and every wanted one among them. Words of a comment count one
 * by one, and marks are compared without leading zeros, as iptables-save prints them.
 */
export function holdsRule(chain: SavedChain, rule: readonly string[]): boolean {
  const wanted = rule.flatMap(comparable);
  return chain.rules.some(({ text }) => {
    const words = splitRule(text).flatMap(comparable);
    if (words.length !== wanted.length) return false;
    const present = new Set(words);
    return wanted.every(word => present.has(word));
  });
}

function comparable(word: string): string[] {
  return word.split(/\s+/).map(part => part.replaceAll(/\b0x0+(?=[0-9a-f])/gi, '0x'));
}
