import { Iptables, IptablesError, type IptablesOptions, SaveParser, Turns } from '../../kernel/iptables/index.ts';
import { type Cleanup, CleanupReport } from '../cleanup-report.ts';
import { CHAINS, JUMPS, TABLES } from './chains.ts';
import { jumpWords } from './portal-rules.ts';

/** Removes what the mode made, in both families. A family whose programs cannot be used has nothing to be removed. */
export async function cleanupUserspace(options: IptablesOptions = {}): Promise<Cleanup> {
  const report = new CleanupReport();
  const turns = options.turns ?? new Turns();
  for (const family of ['ip', 'ip6'] as const) {
    const program = family === 'ip6' ? options.program?.replace(/^iptables/, 'ip6tables') : options.program;
    const iptables = await Iptables.open(family, { ...options, program, turns });
    if (await hasChains(iptables)) await cleanFamily(iptables, report);
  }
  return report;
}

/** Lists tables that exist only, so that nothing comes to be by looking. */
async function hasChains(iptables: Iptables): Promise<boolean> {
  const parser = new SaveParser({ rules: false });
  try {
    await iptables.saveInto(chunk => parser.write(chunk));
  } catch (error) {
    if (error instanceof IptablesError) return false;
    throw error;
  }
  const saved = parser.end();
  return TABLES.some(table => CHAINS[table].some(chain => saved.get(table)?.has(chain)));
}

async function cleanFamily(iptables: Iptables, report: CleanupReport): Promise<void> {
  for (const jump of JUMPS) {
    await report.attempt(async () => {
      await iptables.deleteRule(jump.table, jump.from, jumpWords(jump));
      return undefined;
    });
  }
  for (const table of TABLES) {
    for (const chain of CHAINS[table]) {
      await report.attempt(async () => {
        if (!(await iptables.flushChain(table, chain))) return undefined;
        await iptables.deleteChain(table, chain);
        return `${iptables.program} -t ${table} chain ${chain}`;
      });
    }
  }
}
