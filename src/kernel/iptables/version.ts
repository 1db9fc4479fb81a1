/** Which kernel interface an iptables program writes to. Before 1.8 there was only one, and none was named. */
export type Backend = 'nf_tables' | 'legacy';

export interface IptablesVersion {
  /** `1.8.9`; undefined if the program did not say. */
  readonly version: string | undefined;
  readonly backend: Backend;
}

/** What the programs can do. */
export interface IptablesFeatures {
  /** `-C`; otherwise a rule is looked for in the output of iptables-save. */
  readonly check: boolean;
  /** `-w` of iptables: with seconds, without (then it waits for ever), or unknown to it. */
  readonly wait: WaitFlag;
  /** `-w` of iptables-restore. Without it the programs do not lock at all, and the caller has to. */
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
 * What a version can do. One that is unknown is taken for the oldest that knows `-C`, with no other flag.
 * `restoreSaysVersion`: whether `iptables-restore --version` prints one. Some distributions gave an older version the
 * flag -w of restore, and this option with it.
 */
export function featuresOf({ version = '1.4.11' }: IptablesVersion, restoreSaysVersion: boolean): IptablesFeatures {
  return {
    check: atLeast(version, '1.4.11'),
    wait: atLeast(version, '1.4.22') ? 'seconds' : atLeast(version, '1.4.20') ? 'endless' : 'none',
    restoreWait: knowsRestoreWait(version) ? 'seconds' : restoreSaysVersion ? 'endless' : 'none',
    randomFully: atLeast(version, '1.6.2'),
  };
}

/** Whether the version alone says that iptables-restore has `-w` with seconds. */
export function knowsRestoreWait(version: string | undefined): boolean {
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
