import { defaultConfiguration } from '../../config/index.ts';
import { RouteSocket } from '../../kernel/rtnetlink/index.ts';
import type { Problem } from '../../lib/problem.ts';
import { configuredMode, MODES, type ModeDescriptor } from '../../modes/index.ts';
import { FAMILIES, type Ip } from '../../net/index.ts';
import { MASQUERADE_BIT, modeSettings, type ProxyState } from '../../proxy/index.ts';
import { styleFor } from '../style.ts';
import { problemText } from './text.ts';

export interface RulesInput {
  readonly mode: ModeDescriptor;
  readonly featureGates: ReadonlyMap<string, boolean>;
  readonly nodePortAddresses: readonly string[];
  readonly countConnections: boolean;
  /** `nothing`: what a first start would write. `kernel`: what would bring this machine's kernel to the plan. */
  readonly against: 'nothing' | 'kernel';
}

/** What the mode would write, in the words of the tools of the kernel; empty if nothing. */
export async function rulesText(state: ProxyState, input: RulesInput): Promise<string> {
  const { against, featureGates, nodePortAddresses } = input;
  const mode = configuredMode({ ...defaultConfiguration(), mode: input.mode.name, featureGates }, input);
  const texts: string[] = [];
  for (const family of FAMILIES) {
    const settings = modeSettings(state, family, { nodePortAddresses, masqueradeBit: MASQUERADE_BIT, interfaceIPs });
    const plans = [...state.family(family).planner.plans()];
    texts.push(await mode.preview({ family, plans, settings, against }));
  }
  return texts.filter(text => text !== '').join('\n');
}

export function problemsText(problems: readonly Problem[]): string {
  return problems.map(problem => `${problemText(problem, styleFor({}, {})).trim()}\n`).join('');
}

/** The node's addresses, without those that a mode gave to a link of its own. */
function interfaceIPs(): readonly Ip[] {
  const socket = RouteSocket.open();
  try {
    const own = MODES.flatMap(({ link }) => (link === undefined ? [] : (socket.link(link)?.index ?? [])));
    return socket.addresses({}).flatMap(({ ip, index }) => (own.includes(index) ? [] : [ip]));
  } finally {
    socket.close();
  }
}
