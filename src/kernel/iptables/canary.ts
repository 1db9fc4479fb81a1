import type { Iptables } from './iptables.ts';

/**
 * The tables that lack the canary chain. A program that flushes a table removes its canary too, so a missing canary
 * means that our rules are gone. Throws if it is unknown whether the chain exists.
 */
export async function missingCanaries(iptables: Iptables, chain: string, tables: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (const table of tables) if (!(await iptables.chainExists(table, chain))) missing.push(table);
  return missing;
}
