import { IptablesError, type IptablesRun, lockWaitText } from '../../kernel/iptables/index.ts';
import { Turns } from '../../lib/turns.ts';
import { FAMILIES, type Family } from '../../net/index.ts';
import { openIptables, type ProgramOptions } from '../iptables-programs.ts';

export interface IptablesSupport {
  readonly families: readonly Family[];
  /** Why the others cannot be used. */
  readonly unavailable: Readonly<Partial<Record<Family, IptablesError>>>;
}

/** The families that the mode can be used in on this machine. */
export async function iptablesSupport(options: ProgramOptions = {}): Promise<IptablesSupport> {
  const turns = new Turns();
  const families: Family[] = [];
  const unavailable: Partial<Record<Family, IptablesError>> = {};
  for (const family of FAMILIES) {
    const error = await (await openIptables(family, options, { turns })).availabilityError();
    if (error) unavailable[family] = error;
    else families.push(family);
  }
  return { families, unavailable };
}

/** Shorter waits for the lock are everyday life. */
const LONG_WAIT_MS = 1000;

/** That a program had to wait long for the xtables lock, and for whom. One that gave up says so in its error. */
export function longLockWait({ lockWait, outcome, command }: IptablesRun): string | undefined {
  if (!lockWait || lockWait.waitedMs < LONG_WAIT_MS || outcome instanceof IptablesError) return undefined;
  return `${command}: ${lockWaitText(lockWait)}`;
}
