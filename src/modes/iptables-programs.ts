import {
  type Backend,
  Iptables,
  type IptablesOptions,
  otherBackend,
  programOfBackend,
} from '../kernel/iptables/index.ts';
import type { Family } from '../net/index.ts';
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
