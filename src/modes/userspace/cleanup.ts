import { type Iptables, IptablesError, type SavedTables, SaveParser } from '../../kernel/iptables/index.ts';
import { Turns } from '../../lib/turns.ts';
import { FAMILIES } from '../../net/index.ts';
import { type Cleanup, CleanupReport } from '../cleanup-report.ts';
import { openBackends, type ProgramOptions } from '../iptables-programs.ts';
import { CHAINS, JUMPS, TABLES, type TableName } from './names.ts';
import { jumpWords } from './portals/portal-rules.ts';

/**
 * Removes what the mode made, in both families, and in both backends unless one is named. Where programs cannot be used
 * there is nothing that could be removed.
 */
export async function cleanupUserspace(options: ProgramOptions = {}): Promise<Cleanup> {
  const report = new CleanupReport();
  const turns = new Turns();
  for (const family of FAMILIES) {
    const [own, other] = await openBackends(family, options, { turns });
    await cleanFamily(own, report);
    if (other) await cleanFamily(other, report);
  }
  return report;
}

/** Lists tables that exist only, so that nothing comes to be by looking. */
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

/** Touches what is there only: asked to delete, some versions would make the table first. */
async function cleanFamily(iptables: Iptables, report: CleanupReport): Promise<void> {
  const saved = await readChains(iptables);
  const isThere = (table: TableName, chain: string) => saved.get(table)?.has(chain) === true;
  for (const jump of JUMPS) {
    if (!isThere(jump.table, jump.to)) continue;
    await report.attempt(async () => {
      await iptables.deleteRule(jump.table, jump.from, jumpWords(jump));
      return undefined;
    });
  }
  for (const table of TABLES) {
    for (const chain of CHAINS[table].filter(name => isThere(table, name))) {
      await report.attempt(async () => {
        if (!(await iptables.flushChain(table, chain))) return undefined;
        await iptables.deleteChain(table, chain);
        return `${iptables.program} -t ${table} chain ${chain}`;
      });
    }
  }
}
