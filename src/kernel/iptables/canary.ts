import type { Iptables } from './iptables.ts';

/**
 * An empty chain in each table, there to be missed: who flushes the tables behind our back removes it too.
 * Creates the canary where it is not, and says in which tables that was.
 */
export async function createCanary(iptables: Iptables, chain: string, tables: readonly string[]): Promise<string[]> {
  const created: string[] = [];
  for (const table of tables) if (await iptables.ensureChain(table, chain)) created.push(table);
  return created;
}

/** The tables in which the canary is gone. Throws if that cannot be known, which is not the same as gone. */
export async function missingCanaries(iptables: Iptables, chain: string, tables: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (const table of tables) if (!(await iptables.chainExists(table, chain))) missing.push(table);
  return missing;
}
