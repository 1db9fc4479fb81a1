import type { NetworkNamespace } from '../../kernel/netns.ts';
import type { OtherRules, PacketPath } from './finding.ts';

export interface OtherRulesOptions {
  /** By default the namespace of this process. It must stay open until the answer is there. */
  readonly namespace?: NetworkNamespace | undefined;
  /** By default two seconds. */
  readonly timeoutMs?: number | undefined;
  /** How many rules to evaluate. By default 20,000. */
  readonly maxRules?: number | undefined;
}

/** What drops or rejects the packet on its way, or may: rules of other programs, settings and routes. */
export async function findOtherRules(path: PacketPath, options: OtherRulesOptions = {}): Promise<OtherRules> {
  return { findings: [], unread: [], incomplete: `${path.packet.family} rules are not read${options.maxRules ?? ''}` };
}
