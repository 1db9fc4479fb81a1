import { existsSync } from 'node:fs';

/** Where each module shows that it is there, also if it is built into the kernel. */
const SIGNS = {
  ip_vs: '/proc/net/ip_vs',
  ip_set: '/sys/module/ip_set',
  /** The older backend of iptables. */
  ip_tables: '/proc/net/ip_tables_names',
  ip6_tables: '/proc/net/ip6_tables_names',
} as const;

export type KernelModule = keyof typeof SIGNS;

/** Whether the kernel has the module already. Programs that list its objects would load it. */
export function isModuleLoaded(module: KernelModule): boolean {
  return existsSync(SIGNS[module]);
}
