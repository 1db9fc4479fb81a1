import type { NetworkNamespace } from '../kernel/netns.ts';
import type { Mode, ModeEvents } from '../modes/index.ts';
import { cleanupIptables, IptablesMode, type IptablesModeOptions } from '../modes/iptables/index.ts';
import { cleanupNftables, NftablesMode } from '../modes/nftables/index.ts';
import { cleanupUserspace, UserspaceMode, type UserspaceModeOptions } from '../modes/userspace/index.ts';
import type { Family } from '../net/index.ts';
import { TakeOver } from './take-over.ts';

/** Those whose rules are known before they run. */
export const PROXY_MODES = ['nftables', 'iptables'] as const;
/** Rules of userspace mode have the ports that its proxies get. */
const ALL_MODES = [...PROXY_MODES, 'userspace'] as const;
export type ProxyMode = (typeof ALL_MODES)[number];

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
  readonly syncPeriodMs: number;
  readonly iptables?: IptablesConfig | undefined;
  readonly userspace?: UserspaceConfig | undefined;
}

/** The mode that is asked for. What another mode left is removed once all is written. */
export function createMode(config: ModeConfig, events: ModeEvents): Mode {
  const { mode = 'nftables', families, namespace, syncPeriodMs, iptables, userspace } = config;
  const failed = (error: unknown) => events.failed('removing what another mode left', error);
  const remove = {
    nftables: async () => void (await cleanupNftables(namespace)),
    iptables: async () => throwFirst((await cleanupIptables({ ...iptables, namespace })).errors),
    userspace: async () => throwFirst((await cleanupUserspace({ ...userspace?.iptables, namespace })).errors),
  };
  const removeOthers = async () => {
    for (const other of ALL_MODES) if (other !== mode) await remove[other]();
  };
  return new TakeOver(modeOf(), families, failed, removeOthers);

  function modeOf(): Mode {
    switch (mode) {
      case 'nftables':
        return new NftablesMode({ namespace, events });
      case 'iptables':
        return new IptablesMode({ ...iptables, namespace, syncPeriodMs, events });
      case 'userspace':
        return new UserspaceMode({ ...userspace, namespace, syncPeriodMs, events });
    }
  }
}

function throwFirst(errors: readonly unknown[]): void {
  if (errors.length > 0) throw errors[0];
}
