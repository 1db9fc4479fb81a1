import type { NetworkNamespace } from '../kernel/netns.ts';
import type { Mode, ModeEvents } from '../modes/index.ts';
import { cleanupIptables, IptablesMode, type IptablesModeOptions } from '../modes/iptables/index.ts';
import { cleanupIpvs, hasIpvsLeftovers, type IpvsConfig, IpvsMode, OWN_RULES } from '../modes/ipvs/index.ts';
import { cleanupNftables, NftablesMode } from '../modes/nftables/index.ts';
import type { Family } from '../net/index.ts';
import { TakeOver } from './take-over.ts';

export const PROXY_MODES = ['nftables', 'iptables', 'ipvs'] as const;
export type ProxyMode = (typeof PROXY_MODES)[number];

export type IptablesConfig = Pick<
  IptablesModeOptions,
  'backend' | 'env' | 'localhostNodePorts' | 'lockFile' | 'timeoutMs' | 'waitSeconds'
>;

export interface ModeConfig {
  /** nftables unless told. */
  readonly mode?: ProxyMode | undefined;
  readonly families: readonly Family[];
  readonly namespace?: NetworkNamespace | undefined;
  readonly countConnections?: boolean | undefined;
  readonly syncPeriodMs: number;
  readonly iptables?: IptablesConfig | undefined;
  readonly ipvs?: IpvsConfig | undefined;
}

/** A chain by which its rules are known. Looking for it would take starting programs. */
const ONLY_IN_IPTABLES_MODE = 'KUBE-NODEPORTS';

/** The mode that is asked for. What another mode left is removed once all is written. */
export function createMode(config: ModeConfig, events: ModeEvents): Mode {
  const { mode = 'nftables', families, namespace, countConnections, syncPeriodMs, iptables, ipvs } = config;
  const failed = (error: unknown) => events.failed('removing what another mode left', error);
  switch (mode) {
    case 'nftables':
      return new TakeOver(new NftablesMode({ namespace, events, countConnections }), families, failed, async () => {
        if (hasIpvsLeftovers(namespace)) await cleanupIpvs({ namespace });
        const { errors } = await cleanupIptables({ ...iptables, namespace });
        if (errors.length > 0) throw errors[0];
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
        },
      );
    case 'ipvs': {
      const own = new IpvsMode({ ...ipvs, namespace, events });
      return new TakeOver(own, families, failed, async () => {
        await cleanupNftables(namespace);
        if (!own.hadChain(ONLY_IN_IPTABLES_MODE)) return;
        const { errors } = await cleanupIptables({ ...iptables, namespace }, OWN_RULES);
        if (errors.length > 0) throw errors[0];
      });
    }
  }
}
