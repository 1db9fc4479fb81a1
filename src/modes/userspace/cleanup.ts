import { type Iptables, IptablesError, type SavedTables, SaveParser } from '../../kernel/iptables/index.ts';
import { Turns } from '../../lib/turns.ts';
import { FAMILIES } from '../../net/index.ts';
import { type Cleanup, CleanupReport } from '../cleanup-report.ts';
import type { CleanupOptions } from '../descriptor.ts';
import { openBackends } from '../iptables-programs.ts';
import { chainText, placeText, usedChain } from '../leftover.ts';
import { CHAINS, TABLES, type TableName } from './names.ts';
import { JUMPS, jumpWords } from './portals/jumps.ts';

/** Removes the jumps and chains of both families, in both backends of iptables unless the options name one. */
export async function cleanupUserspace({ namespace, programs }: CleanupOptions = {}): Promise<Cleanup> {
  const report = new CleanupReport();
  const turns = new Turns();
  for (const family of FAMILIES) {
    const [own, other] = await openBackends(family, { ...programs, namespace }, { turns });
    await cleanFamily(own, report);
    if (other) await cleanFamily(other, report);
  }
  return report;
}

/** Without a table's name iptables-save creates no table. If the programs do not work, there is nothing to remove. */
async function readChains(iptables: Iptables): Promise<SavedTables> {
  const parser = new SaveParser({ rules: false });
  try {
    await iptables.saveInto(chunk => parser.write(chunk));
  } catch (error) {
    if (error instanceof IptablesError) return new Map();
    throw error;
  }
  return parser.end();
}

/** Deletes only what exists, because some versions of iptables create a table when they delete from it. */
async function cleanFamily(iptables: Iptables, report: CleanupReport): Promise<void> {
  const saved = await readChains(iptables);
  const exists = (table: TableName, chain: string) => saved.get(table)?.has(chain) === true;
  for (const jump of JUMPS) {
    if (!exists(jump.table, jump.to)) continue;
    const text = `jump from ${jump.from} to ${jump.to} of ${jump.table} (${placeText(iptables)})`;
    await report.attempt(text, async () => {
      await iptables.deleteRule(jump.table, jump.from, jumpWords(jump));
      return undefined;
    });
  }
  for (const table of TABLES) {
    for (const chain of CHAINS[table].filter(name => exists(table, name))) {
      await report.attempt(chainText(iptables, table, chain), async () => {
        if (!(await iptables.flushChain(table, chain))) return undefined;
        await iptables.deleteChain(table, chain).catch(error => {
          throw error instanceof IptablesError && error.isAboutRules ? usedChain(iptables, table, chain, error) : error;
        });
        return `${iptables.program} -t ${table} chain ${chain}`;
      });
    }
  }
}
