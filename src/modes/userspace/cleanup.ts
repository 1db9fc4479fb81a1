import {
  Iptables,
  IptablesError,
  type IptablesOptions,
  isNotFound,
  SaveParser,
  Turns,
} from '../../kernel/iptables/index.ts';
import { CHAINS, JUMPS, TABLES } from './chains.ts';
import { jumpWords } from './portal-rules.ts';

export interface Cleanup {
  /** What was removed, in words. */
  readonly removed: readonly string[];
  /** What could not be done; the rest was. */
  readonly errors: readonly unknown[];
}

/** Removes what the mode made, in both families. A family whose programs cannot be used has nothing to be removed. */
export async function cleanupUserspace(options: IptablesOptions = {}): Promise<Cleanup> {
  const removed: string[] = [];
  const errors: unknown[] = [];
  const turns = options.turns ?? new Turns();
  for (const family of ['ip', 'ip6'] as const) {
    const program = family === 'ip6' ? options.program?.replace(/^iptables/, 'ip6tables') : options.program;
    const iptables = await Iptables.open(family, { ...options, program, turns });
    if (await hasChains(iptables)) await cleanFamily(iptables, removed, errors);
  }
  return { removed, errors };
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

async function cleanFamily(iptables: Iptables, removed: string[], errors: unknown[]): Promise<void> {
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      if (!isNotFound(error)) errors.push(error);
    }
  };
  for (const jump of JUMPS) await attempt(() => iptables.deleteRule(jump.table, jump.from, jumpWords(jump)));
  for (const table of TABLES) {
    for (const chain of CHAINS[table]) {
      await attempt(async () => {
        if (!(await iptables.flushChain(table, chain))) return;
        await iptables.deleteChain(table, chain);
        removed.push(`${iptables.program} -t ${table} chain ${chain}`);
      });
    }
  }
}
