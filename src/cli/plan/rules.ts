import { NftablesSocket } from '../../kernel/nftables/index.ts';
import { RouteSocket } from '../../kernel/rtnetlink/index.ts';
import type { Problem } from '../../lib/problem.ts';
import { SILENT_EVENTS } from '../../modes/index.ts';
import { previewText } from '../../modes/iptables/index.ts';
import { DEFAULT_SCHEDULER, DEVICE, previewIpvs } from '../../modes/ipvs/index.ts';
import { FamilyTable, layoutOf } from '../../modes/nftables/index.ts';
import { FAMILIES, type Family, type Ip } from '../../net/index.ts';
import { MASQUERADE_BIT, modeSettings, type PROXY_MODES, type ProxyState } from '../../proxy/index.ts';
import { styleFor } from '../style.ts';
import { problemText } from './text.ts';

export interface RulesInput {
  readonly mode: (typeof PROXY_MODES)[number];
  readonly nodePortAddresses: readonly string[];
  readonly countConnections: boolean;
}

/** What a first start would send: one script a transaction, or what iptables-restore would read. */
export async function rulesText(state: ProxyState, input: RulesInput): Promise<string> {
  switch (input.mode) {
    case 'nftables':
      return withTables(state, input, table => table.preview());
    case 'iptables':
      return FAMILIES.map(family => restoreText(state, input, family)).join('\n');
    case 'ipvs':
      return FAMILIES.map(family => ipvsText(state, input, family)).join('\n');
  }
}

function ipvsText(state: ProxyState, input: RulesInput, family: Family): string {
  const settings = modeSettings(state, family, { ...input, masqueradeBit: MASQUERADE_BIT, interfaceIPs });
  const plans = [...state.family(family).planner.plans()];
  return previewIpvs({ family, scheduler: DEFAULT_SCHEDULER, settings, nodeIPs: interfaceIPs(), plans });
}

function restoreText(state: ProxyState, input: RulesInput, family: Family): string {
  const settings = modeSettings(state, family, { ...input, masqueradeBit: MASQUERADE_BIT, interfaceIPs });
  const program = family === 'IPv4' ? 'iptables-restore' : 'ip6tables-restore';
  const text = previewText(family, state.family(family).planner.plans(), settings);
  return `# ${program} --noflush --counters\n${text}`;
}

/** What would bring the kernel's tables to the plan; empty if they are there. */
export function diffText(state: ProxyState, input: RulesInput): Promise<string> {
  return withTables(state, input, async table => table.preview(await table.readSnapshot()));
}

export function problemsText(problems: readonly Problem[]): string {
  return problems.map(problem => `${problemText(problem, styleFor({}, {})).trim()}\n`).join('');
}

type Transactions = Awaited<ReturnType<FamilyTable['preview']>>;

async function withTables(
  state: ProxyState,
  input: RulesInput,
  preview: (table: FamilyTable) => Promise<Transactions>,
): Promise<string> {
  const socket = NftablesSocket.open();
  try {
    let text = '';
    for (const family of FAMILIES) {
      for (const transaction of await preview(tableOf(state, input, family, socket))) {
        text += `${text === '' ? '' : '\n'}# one transaction of table ${transaction.family} ${transaction.table}\n${transaction}`;
      }
    }
    return text;
  } finally {
    socket.close();
  }
}

function tableOf(state: ProxyState, input: RulesInput, family: Family, socket: NftablesSocket): FamilyTable {
  const settings = modeSettings(state, family, { ...input, masqueradeBit: MASQUERADE_BIT, interfaceIPs });
  const table = new FamilyTable(layoutOf(family, input), settings, socket, () => Promise.reject(), SILENT_EVENTS);
  table.want({ added: [...state.family(family).planner.plans()], updated: [], removed: [] });
  return table;
}

function interfaceIPs(): readonly Ip[] {
  const socket = RouteSocket.open();
  try {
    const device = socket.link(DEVICE)?.index;
    return socket.addresses({}).flatMap(({ ip, index }) => (index === device ? [] : [ip]));
  } finally {
    socket.close();
  }
}
