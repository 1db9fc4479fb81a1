import {
  Iptables,
  IptablesError,
  type IptablesFamily,
  type IptablesOptions,
  otherBackend,
  programOfBackend,
  type SavedTables,
  SaveParser,
} from '../../kernel/iptables/index.ts';
import { Turns } from '../../lib/turns.ts';
import { type Cleanup, CleanupReport } from '../cleanup-report.ts';
import { CHAINS, JUMPS, TABLES, type TableName } from './chains.ts';
import { jumpWords } from './portal-rules.ts';

/**
 * Removes what the mode made, in both families, and in both backends unless a program is named. Where programs cannot be
 * used there is nothing that could be removed.
 */
export async function cleanupUserspace(options: IptablesOptions = {}): Promise<Cleanup> {
  const report = new CleanupReport();
  const shared = { ...options, turns: options.turns ?? new Turns() };
  for (const family of ['ip', 'ip6'] as const) {
    for (const iptables of await programsOf(family, shared)) await cleanFamily(iptables, report);
  }
  return report;
}

async function programsOf(family: IptablesFamily, options: IptablesOptions): Promise<readonly Iptables[]> {
  const named = family === 'ip6' ? options.program?.replace(/^iptables/, 'ip6tables') : options.program;
  const iptables = await Iptables.open(family, { ...options, program: named });
  if (named !== undefined) return [iptables];
  const program = programOfBackend(family, otherBackend(iptables.backend));
  return [iptables, await Iptables.open(family, { ...options, program })];
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
