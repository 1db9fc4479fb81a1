import { IpsetSocket } from '../../../kernel/ipset/index.ts';
import { IptablesError, type SavedChain, type SavedTables } from '../../../kernel/iptables/index.ts';
import type { NetworkNamespace } from '../../../kernel/netns.ts';
import { sameList } from '../../../lib/same-list.ts';
import type { Family } from '../../../net/index.ts';
import type { ModeMachine } from '../../descriptor.ts';
import { listAsSaved } from '../../iptables-listing.ts';
import { CHAINS, ipSet, SET_KEYS, TABLES } from '../names.ts';
import { JUMPS, jumpRule, missingJumps } from './jumps.ts';
import { type RuleInput, restoreText, rulesOf } from './rule-text.ts';

/** The text for iptables-restore that changes the mode's chains to the wanted rules. Empty if nothing differs. */
export async function ruleDiffText(input: RuleInput, present: SavedTables, machine: ModeMachine): Promise<string> {
  const { accepted, listed } = await listWanted(input, machine);
  const rules = rulesOf(accepted);
  const jumps = missingJumps(present);
  return TABLES.map(table => {
    const changed = CHAINS[table].filter(
      chain => !sameChain(listed.get(table)?.get(chain), present.get(table)?.get(chain)),
    );
    const lines = [
      ...changed.map(chain => `:${chain} - [0:0]`),
      ...jumps.filter(jump => jump.table === table).map(jump => `-I ${jump.from} ${jumpRule(jump)}`),
      ...rules[table].filter(({ chain }) => changed.includes(chain)).map(({ chain, text }) => `-A ${chain} ${text}`),
    ];
    return lines.length === 0 ? '' : `*${table}\n${lines.join('\n')}\nCOMMIT\n`;
  }).join('');
}

interface WantedRules {
  /** The rules that this kernel accepts. */
  readonly accepted: RuleInput;
  readonly listed: SavedTables;
}

/** Leaves out the drop rules if the kernel refuses them, as the mode does. */
async function listWanted(input: RuleInput, machine: ModeMachine): Promise<WantedRules> {
  const list = async (accepted: RuleInput): Promise<WantedRules> => {
    const { family } = accepted;
    const text = restoreText(accepted, JUMPS);
    return { accepted, listed: await listAsSaved(family, [text], machine, scratch => createSets(family, scratch)) };
  };
  try {
    return await list(input);
  } catch (error) {
    if (input.drops.length === 0 || !(error instanceof IptablesError && error.isAboutRules)) throw error;
    return list({ ...input, drops: [] });
  }
}

async function createSets(family: Family, namespace: NetworkNamespace): Promise<void> {
  const socket = IpsetSocket.open({ namespace });
  try {
    const [refused] = await socket.restore(SET_KEYS.map(key => ({ kind: 'create', set: ipSet(key, family) }) as const));
    if (refused) throw refused.error;
  } finally {
    socket.close();
  }
}

function sameChain(a: SavedChain | undefined, b: SavedChain | undefined): boolean {
  return a !== undefined && b !== undefined && sameList(a.rules, b.rules, (one, other) => one.text === other.text);
}
