import type { NetworkNamespace } from '../kernel/netns.ts';
import type { Cleanup, Mode, ModeEvents } from '../modes/index.ts';
import { cleanupIptables, IptablesMode, type IptablesModeOptions, type KeptRules } from '../modes/iptables/index.ts';
import { cleanupIpvs, hasIpvsLeftovers, type IpvsConfig, IpvsMode, OWN_RULES } from '../modes/ipvs/index.ts';
import { cleanupNftables, NftablesMode } from '../modes/nftables/index.ts';
import { cleanupUserspace, UserspaceMode, type UserspaceModeOptions } from '../modes/userspace/index.ts';
import type { Family } from '../net/index.ts';
import { type Removal, TakeOver } from './take-over.ts';

/** Those whose rules are known before they run. */
export const PROXY_MODES = ['nftables', 'iptables', 'ipvs'] as const;
/** Rules of userspace mode have the ports that its proxies get. */
export type ProxyMode = (typeof PROXY_MODES)[number] | 'userspace';

export type IptablesConfig = Pick<
  IptablesModeOptions,
  'backend' | 'env' | 'localhostNodePorts' | 'lockFile' | 'timeoutMs' | 'waitSeconds'
>;

export type UserspaceConfig = Omit<UserspaceModeOptions, 'namespace' | 'events'>;

export interface ModeConfig {
  /** nftables unless told. */
  readonly mode?: ProxyMode | undefined;
  readonly families: readonly Family[];
  readonly namespace?: NetworkNamespace | undefined;
  readonly countConnections?: boolean | undefined;
  readonly iptables?: IptablesConfig | undefined;
  readonly ipvs?: IpvsConfig | undefined;
  readonly userspace?: UserspaceConfig | undefined;
}

/** Chains by which their rules are known. Looking for them would take starting programs. */
const ONLY_IN_IPTABLES_MODE = 'KUBE-NODEPORTS';
const ONLY_IN_USERSPACE_MODE = 'KUBE-PORTALS-HOST';

/** The mode that is asked for. What another mode left is removed once all is written. */
export function createMode(config: ModeConfig, events: ModeEvents): Mode {
  const { mode = 'nftables', families, namespace, countConnections, iptables, ipvs, userspace } = config;
  const failed = (error: unknown) => events.failed('removing what another mode left', error);
  const takeOver = (own: Mode, removals: readonly Removal[]) => new TakeOver(own, families, failed, removals);
  const left = leftovers(config);
  switch (mode) {
    case 'nftables': {
      const own = new NftablesMode({ namespace, events, countConnections });
      return takeOver(own, [() => left.ipvs(), () => left.iptables(), left.userspace]);
    }
    case 'iptables': {
      const own = new IptablesMode({ ...iptables, namespace, events });
      // Some chains are of ipvs mode too, and by now have the rules of this one.
      return takeOver(own, [left.nftables, () => left.ipvs(true), left.userspace]);
    }
    case 'ipvs': {
      const own = new IpvsMode({ ...ipvs, namespace, events });
      const ifHad = (chain: string, removal: Removal) => async () => {
        if (own.hadChain(chain)) await removal();
      };
      return takeOver(own, [
        left.nftables,
        ifHad(ONLY_IN_IPTABLES_MODE, () => left.iptables(OWN_RULES)),
        ifHad(ONLY_IN_USERSPACE_MODE, left.userspace),
      ]);
    }
    case 'userspace': {
      const own = new UserspaceMode({ ...userspace, namespace, events });
      return takeOver(own, [left.nftables, () => left.ipvs(), () => left.iptables()]);
    }
  }
}

/** How what each mode left is removed. */
function leftovers({ namespace, iptables, userspace }: ModeConfig) {
  return {
    nftables: async () => throwFirst(await cleanupNftables(namespace)),
    async ipvs(keepSharedChains = false) {
      if (hasIpvsLeftovers(namespace)) throwFirst(await cleanupIpvs({ namespace, keepSharedChains }));
    },
    iptables: async (kept?: KeptRules) => throwFirst(await cleanupIptables({ ...iptables, namespace }, kept)),
    userspace: async () => throwFirst(await cleanupUserspace({ ...userspace?.iptables, namespace })),
  };
}

function throwFirst({ errors }: Cleanup): void {
  if (errors.length > 0) throw errors[0];
}
