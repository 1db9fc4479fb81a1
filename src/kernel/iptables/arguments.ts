import type { IptablesFeatures, WaitFlag } from './version.ts';

/** `ip` is iptables, `ip6` is ip6tables. */
export type IptablesFamily = 'ip' | 'ip6';
export type RulePosition = 'append' | 'prepend';

/** The commands of iptables itself, by their letters. */
export type Command = '-N' | '-S' | '-F' | '-X' | '-C' | '-A' | '-I' | '-D';

export interface RestoreOptions {
  /** Keeps chains that the input does not name. Without it iptables-restore removes them from the tables. */
  readonly noflush?: boolean | undefined;
  /** Uses the counters of the input. Without it all counters start at zero. */
  readonly counters?: boolean | undefined;
  /** Restores only this table of the input. */
  readonly table?: string | undefined;
}

export function programOf(family: IptablesFamily): string {
  return family === 'ip' ? 'iptables' : 'ip6tables';
}

export function commandArguments(
  features: IptablesFeatures,
  waitSeconds: number,
  command: Command,
  table: string,
  chain: string,
  rule: readonly string[] = [],
): string[] {
  return [...waitArguments(features.wait, waitSeconds), command, chain, '-t', table, ...rule];
}

export function restoreArguments(
  features: IptablesFeatures,
  waitSeconds: number,
  { noflush = true, counters = true, table }: RestoreOptions = {},
): string[] {
  return [
    ...waitArguments(features.restoreWait, waitSeconds),
    ...(table === undefined ? [] : ['-T', table]),
    ...(noflush ? ['--noflush'] : []),
    ...(counters ? ['--counters'] : []),
  ];
}

export function saveArguments(table: string | undefined): string[] {
  return table === undefined ? [] : ['-t', table];
}

function waitArguments(flag: WaitFlag, seconds: number): string[] {
  switch (flag) {
    case 'seconds':
      return ['-w', String(seconds)];
    case 'endless':
      return ['-w'];
    case 'none':
      return [];
  }
}
