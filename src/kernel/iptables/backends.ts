import { type IptablesFamily, programOf } from './arguments.ts';
import { Iptables, type IptablesOptions } from './iptables.ts';
import { IptablesError } from './iptables-error.ts';
import { type ChainName, chainsWithPrefix, SaveParser } from './save.ts';
import type { Backend } from './version.ts';

const SUFFIX: Readonly<Record<Backend, string>> = { nf_tables: 'nft', legacy: 'legacy' };

/** The program of a family that writes to the backend: `iptables-legacy`. */
export function programOfBackend(family: IptablesFamily, backend: Backend): string {
  return `${programOf(family)}-${SUFFIX[backend]}`;
}

export function otherBackend(backend: Backend): Backend {
  return backend === 'legacy' ? 'nf_tables' : 'legacy';
}

/**
 * The chains of one backend whose names begin with the prefix. Without the backend's programs we see no chains. This
 * creates no table: without a table's name iptables-save lists only existing tables.
 */
export async function chainsOfBackend(
  family: IptablesFamily,
  backend: Backend,
  prefix: string,
  options: Omit<IptablesOptions, 'program'> = {},
): Promise<readonly ChainName[]> {
  const iptables = await Iptables.open(family, { ...options, program: programOfBackend(family, backend) });
  const parser = new SaveParser({ rules: false });
  try {
    await iptables.saveInto(chunk => parser.write(chunk));
  } catch (error) {
    if (error instanceof IptablesError && error.kind === 'missing') return [];
    throw error;
  }
  return chainsWithPrefix(parser.end(), prefix);
}
