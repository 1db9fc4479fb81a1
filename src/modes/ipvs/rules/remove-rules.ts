import { type Iptables, parseSave, type SavedChains } from '../../../kernel/iptables/index.ts';
import type { Family } from '../../../net/index.ts';
import type { CleanupReport } from '../../cleanup-report.ts';
import type { CleanupOptions, OwnRules } from '../../descriptor.ts';
import { openBackends } from '../../iptables-programs.ts';
import { placeText, usedChain } from '../../leftover.ts';
import { CHAINS, MARKER_CHAINS, TABLES, type Table } from '../names.ts';
import { JUMPS, jumpRule } from './jumps.ts';

/** Removes the rules in both backends, because an earlier proxy may have used another backend than this one. */
export async function removeRules(
  family: Family,
  { namespace, programs, keep }: CleanupOptions,
  report: CleanupReport,
): Promise<void> {
  const [own, other] = await openBackends(family, { ...programs, namespace });
  await removeRulesOf(own, family, report, keep);
  // The mode that runs now writes to the first backend only, so there is nothing to keep in the other one.
  if (other) await removeRulesOf(other, family, report);
}

async function removeRulesOf(
  iptables: Iptables,
  family: Family,
  report: CleanupReport,
  keep?: OwnRules,
): Promise<void> {
  const tables = parseSave(await iptables.save().catch(() => ''));
  if (!TABLES.some(table => MARKER_CHAINS.some(chain => tables.get(table)?.has(chain)))) return;
  const removals = TABLES.map(table => removalFrom(table, tables.get(table) ?? new Map(), keep));
  await report.attempt(`chains (${placeText(iptables)})`, async () => {
    await iptables.restore(removals.map(({ text }) => text).join(''));
    return `${removals.reduce((sum, { chains }) => sum + chains, 0)} ${family} chains`;
  });
  for (const { table, used } of removals) report.kept.push(...used.map(chain => usedChain(iptables, table, chain)));
}

interface RulesRemoval {
  readonly table: Table;
  /** The text for iptables-restore. */
  readonly text: string;
  /** How many chains it removes. */
  readonly chains: number;
  /** The chains that stay because a rule of another program jumps to them. */
  readonly used: readonly string[];
}

function removalFrom(table: Table, present: SavedChains, keep: OwnRules | undefined): RulesRemoval {
  const chains = CHAINS[table].filter(chain => present.has(chain) && !keep?.chain(table, chain));
  const jumps = JUMPS.filter(jump => jump.table === table)
    .map(jump => ({ from: jump.from, text: jumpRule(jump) }))
    .filter(({ from, text }) => !keep?.jump(table, from, text))
    .flatMap(
      jump =>
        present
          .get(jump.from)
          ?.rules.filter(({ text }) => text === jump.text)
          .map(() => jump) ?? [],
    );
  const isRemoved = (from: string, text: string) => jumps.some(jump => jump.from === from && jump.text === text);
  const staying = [...present.values()]
    .filter(({ name }) => !chains.includes(name))
    .flatMap(({ name, rules }) => rules.filter(({ text }) => !isRemoved(name, text)))
    .map(({ text }) => ` ${text} `);
  const unused = chains.filter(chain => !staying.some(text => text.includes(` ${chain} `)));
  const lines = [
    `*${table}`,
    ...unused.map(chain => `:${chain} - [0:0]`),
    ...jumps.map(({ from, text }) => `-D ${from} ${text}`),
    ...unused.map(chain => `-X ${chain}`),
    'COMMIT',
  ];
  const used = chains.filter(chain => !unused.includes(chain));
  return { table, text: `${lines.join('\n')}\n`, chains: unused.length, used };
}
