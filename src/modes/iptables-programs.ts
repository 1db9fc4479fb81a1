import { KernelError } from '../kernel/errors.ts';
import {
  type Backend,
  Iptables,
  IptablesError,
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
  /** The backend to write to. The default is the backend of the program `iptables`. */
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
 * The programs for a cleanup: those of the backend that this machine uses, and those of the other one, because an
 * earlier proxy may have used it. If the options name a backend, only the programs of that backend.
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
 * Called when a cleanup cannot list the rules of a backend. Programs that do not work have no rules to remove. But if
 * the process may not list the rules, there may be some: then this throws the error again.
 */
export function throwIfNotPermitted(error: unknown): void {
  const isNotPermitted = error instanceof IptablesError ? error.isNotPermitted : isForbidden(error);
  if (isNotPermitted) throw error;
}

function isForbidden(error: unknown): boolean {
  return error instanceof KernelError && (error.errno === 'EPERM' || error.errno === 'EACCES');
}

export interface IptablesSupport {
  readonly families: readonly Family[];
  /** Why the other families cannot be served. */
  readonly unavailable: Readonly<Partial<Record<Family, IptablesError>>>;
}

/** The families whose iptables programs work on this machine. */
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

/** The families that a mode which needs iptables can serve. Throws a `FatalError` if there is none. */
export async function iptablesFamilies(
  log: Logger,
  support: () => Promise<IptablesSupport> = iptablesSupport,
): Promise<readonly Family[]> {
  const { families, unavailable } = await support();
  const reasons = FAMILIES.flatMap(family => unavailable[family] ?? []).map(errorText);
  if (families.length === 0) throw new FatalError(`iptables is not available on this host : ${reasons.join(', ')}`);
  for (const family of FAMILIES) {
    const err = unavailable[family];
    if (err) log.info('server', 'No iptables support for family', { ipFamily: family, err: errorText(err) });
  }
  return families;
}
