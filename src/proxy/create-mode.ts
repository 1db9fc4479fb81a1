import type { NetworkNamespace } from '../kernel/netns.ts';
import type { Mode, ModeEvents } from '../modes/index.ts';
import { cleanupIptables, IptablesMode, type IptablesModeOptions } from '../modes/iptables/index.ts';
import { cleanupIpvs, hasIpvsLeftovers, type IpvsConfig, IpvsMode, OWN_RULES } from '../modes/ipvs/index.ts';
import { cleanupNftables, NftablesMode } from '../modes/nftables/index.ts';
import { cleanupUserspace, UserspaceMode, type UserspaceModeOptions } from '../modes/userspace/index.ts';
import type { Family } from '../net/index.ts';
import { TakeOver } from './take-over.ts';

/** Those whose rules are known before they run. */
export const PROXY_MODES = ['nftables', 'iptables', 'ipvs'] as const;
/** Rules of userspace mode have the ports that its proxies get. */
export type ProxyMode = (typeof PROXY_MODES)[number] | 'userspace';

export type IptablesConfig = Pick<
  IptablesModeOptions,
  'backend' | 'env' | 'localhostNodePorts' | 'lockFile' | 'timeoutMs' | 'waitSeconds'
>;

export type UserspaceConfig = Omit<UserspaceModeOptions, 'namespace' | 'events' | 'syncPeriodMs'>;

export interface ModeConfig {
  /** nftables unless told. */
  readonly mode?: ProxyMode | undefined;
  readonly families: readonly Family[];
  readonly namespace?: NetworkNamespace | undefined;
  readonly countConnections?: boolean | undefined;
  readonly syncPeriodMs: number;
  readonly iptables?: IptablesConfig | undefined;
  readonly ipvs?: IpvsConfig | undefined;
  readonly userspace?: UserspaceConfig | undefined;
}

/** Chains by which their rules are known. Looking for them would take starting programs. */
const ONLY_IN_IPTABLES_MODE = 'KUBE-NODEPORTS';
const ONLY_IN_USERSPACE_MODE = 'KUBE-PORTALS-HOST';

/** The mode that is asked for. What another mode left is removed once all is written. */
export function createMode(config: ModeConfig, events: ModeEvents): Mode {
  const { mode = 'nftables', families, namespace, countConnections, syncPeriodMs, iptables, ipvs, userspace } = config;
  const failed = (error: unknown) => events.failed('removing what another mode left', error);
  const removeIptables = async (own?: typeof OWN_RULES) =>
    throwFirst((await cleanupIptables({ ...iptables, namespace }, own)).errors);
  const removeUserspace = async () =>
    throwFirst((await cleanupUserspace({ ...userspace?.iptables, namespace })).errors);
  switch (mode) {
    case 'nftables':
      return new TakeOver(new NftablesMode({ namespace, events, countConnections }), families, failed, async () => {
        if (hasIpvsLeftovers(namespace)) await cleanupIpvs({ namespace });
        await removeIptables();
        await removeUserspace();
      });
    case 'iptables':
      return new TakeOver(
        new IptablesMode({ ...iptables, namespace, syncPeriodMs, events }),
        families,
        failed,
        async () => {
          await cleanupNftables(namespace);
          // Some chains are of both modes, and by now have the rules of this one.
          if (hasIpvsLeftovers(namespace)) await cleanupIpvs({ namespace, keepSharedChains: true });
          await removeUserspace();
        },
      );
    case 'ipvs': {
      const own = new IpvsMode({ ...ipvs, namespace, events });
      return new TakeOver(own, families, failed, async () => {
        await cleanupNftables(namespace);
        if (own.hadChain(ONLY_IN_IPTABLES_MODE)) await removeIptables(OWN_RULES);
        if (own.hadChain(ONLY_IN_USERSPACE_MODE)) await removeUserspace();
      });
    }
    case 'userspace': {
      const own = new UserspaceMode({ ...userspace, namespace, syncPeriodMs, events });
      return new TakeOver(own, families, failed, async () => {
        await cleanupNftables(namespace);
        if (hasIpvsLeftovers(namespace)) await cleanupIpvs({ namespace });
        await removeIptables();
      });
    }
  }
}

function throwFirst(errors: readonly unknown[]): void {
  if (errors.length > 0) throw errors[0];
}
