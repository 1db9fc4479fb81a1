/** The kernel interface that an iptables program writes to. Before 1.8 there was only `legacy`, without a name. */
export type Backend = 'nf_tables' | 'legacy';

export interface IptablesVersion {
  /** `1.8.9`, or undefined if the program did not print its version. */
  readonly version: string | undefined;
  readonly backend: Backend;
}

/** The options that the programs have. */
export interface IptablesFeatures {
  /** `-C`. Without it we search the output of iptables-save for a rule. */
  readonly check: boolean;
  /** `-w` of iptables: with seconds, without seconds (it waits forever), or not at all. */
  readonly wait: WaitFlag;
  /** `-w` of iptables-restore. Without it iptables-restore does not lock, so the caller must lock. */
  readonly restoreWait: WaitFlag;
  /** `--random-fully` of the target MASQUERADE. */
  readonly randomFully: boolean;
}

export type WaitFlag = 'seconds' | 'endless' | 'none';

/** Reads `iptables v1.8.9 (nf_tables)`. */
export function parseVersion(text: string): IptablesVersion {
  const version = /v([0-9]+(?:\.[0-9]+)+)/.exec(text)?.[1];
  return { version, backend: text.includes('(nf_tables)') ? 'nf_tables' : 'legacy' };
}

/**
 * The features of a version. An unknown version counts as the oldest that has `-C`, without any other option.
 * `restorePrintsVersion`: whether `iptables-restore --version` prints a version. Some distributions added the option -w
 * of iptables-restore to an older version, together with --version.
 */
export function featuresOf({ version = '1.4.11' }: IptablesVersion, restorePrintsVersion: boolean): IptablesFeatures {
  return {
    check: atLeast(version, '1.4.11'),
    wait: atLeast(version, '1.4.22') ? 'seconds' : atLeast(version, '1.4.20') ? 'endless' : 'none',
    restoreWait: hasRestoreWaitSeconds(version) ? 'seconds' : restorePrintsVersion ? 'endless' : 'none',
    randomFully: atLeast(version, '1.6.2'),
  };
}

/** Whether iptables-restore of this version always has `-w` with seconds. */
export function hasRestoreWaitSeconds(version: string | undefined): boolean {
  return version !== undefined && atLeast(version, '1.6.2');
}

function atLeast(version: string, minimum: string): boolean {
  const wanted = minimum.split('.').map(Number);
  const parts = version.split('.').map(Number);
  for (let i = 0; i < Math.max(wanted.length, parts.length); i++) {
    const difference = (parts[i] ?? 0) - (wanted[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
