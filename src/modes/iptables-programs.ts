import {
  type Backend,
  Iptables,
  type IptablesOptions,
  otherBackend,
  programOfBackend,
} from '../kernel/iptables/index.ts';
import { errorText } from '../lib/error-text.ts';
import { FatalError } from '../lib/fatal-error.ts';
import { Turns } from '../lib/turns.ts';
import { FAMILIES, type Family } from '../net/index.ts';
import type { Logger } from '../observe/logging/index.ts';
import { iptablesFamily } from './iptables-words.ts';

/** Which iptables programs are used, and how. */
export interface ProgramOptions
  extends Pick<IptablesOptions, 'namespace' | 'env' | 'timeoutMs' | 'lockFile' | 'waitSeconds'> {
  /** Which backend is written to; that of the program `iptables` unless told. */
  readonly backend?: Backend | undefined;
}

type Shared = Pick<IptablesOptions, 'turns' | 'onRun'>;

export function openIptables(
  family: Family,
  { backend, ...options }: ProgramOptions,
  shared: Shared = {},
): Promise<Iptables> {
  const name = iptablesFamily(family);
  const program = backend && programOfBackend(name, backend);
  return Iptables.open(name, { ...options, program, ...shared });
}

/**
 * For removing what a proxy left, which may have found another backend than we do: the one that is written to, and the other
 * one unless a backend is named.
 */
export async function openBackends(
  family: Family,
  options: ProgramOptions,
  shared: Shared = {},
): Promise<readonly [own: Iptables, other?: Iptables]> {
  const own = await openIptables(family, options, shared);
  if (options.backend) return [own];
  return [own, await openIptables(family, { ...options, backend: otherBackend(own.backend) }, shared)];
}

/**
 * The families whose iptables programs work on this machine. Logs why another family does not work. Throws a `FatalError`
 * if none works.
 */
export async function iptablesFamilies(log: Logger, options: ProgramOptions = {}): Promise<readonly Family[]> {
  const turns = new Turns();
  const reasons = new Map<Family, string>();
  for (const family of FAMILIES) {
    const error = await (await openIptables(family, options, { turns })).availabilityError();
    if (error) reasons.set(family, errorText(error));
  }
  if (reasons.size === FAMILIES.length) {
    throw new FatalError(`iptables is not available on this host : ${[...reasons.values()].join(', ')}`);
  }
  for (const [ipFamily, err] of reasons) log.info('server', 'No iptables support for family', { ipFamily, err });
  return FAMILIES.filter(family => !reasons.has(family));
}
