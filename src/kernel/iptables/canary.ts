import type { Iptables } from './iptables.ts';

/**
 * The tables in which a chain is gone that is there to be missed: who flushes the tables behind our back removes it too.
 * Throws if that cannot be known, which is not the same as gone.
 */
export async function missingCanaries(iptables: Iptables, chain: string, tables: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (const table of tables) if (!(await iptables.chainExists(table, chain))) missing.push(table);
  return missing;
}
