import { type IptablesFamily, programOf } from './arguments.ts';
import { Iptables, type IptablesOptions } from './iptables.ts';
import { IptablesError } from './iptables-error.ts';
import { type ChainName, chainsWithPrefix, SaveParser } from './save.ts';
import type { Backend } from './version.ts';

const SUFFIX: Readonly<Record<Backend, string>> = { nf_tables: 'nft', legacy: 'legacy' };

/**
 * The chains with such names that each backend holds. Rules in both at once mean that a packet meets them twice, in an
 * order that nobody chose. A backend whose programs are not installed has none that we could see. Nothing is created:
 * without a table's name iptables-save lists only tables that exist.
 */
export async function chainsByBackend(
  family: IptablesFamily,
  prefix: string,
  options: Omit<IptablesOptions, 'program'> = {},
): Promise<Readonly<Record<Backend, readonly ChainName[]>>> {
  const chains = async (backend: Backend) => {
    const program = `${programOf(family)}-${SUFFIX[backend]}`;
    const iptables = await Iptables.open(family, { ...options, program });
    const parser = new SaveParser({ rules: false });
    try {
      await iptables.saveInto(chunk => parser.write(chunk));
    } catch (error) {
      if (error instanceof IptablesError && error.problem === 'missing') return [];
      throw error;
    }
    return chainsWithPrefix(parser.end(), prefix);
  };
  return { nf_tables: await chains('nf_tables'), legacy: await chains('legacy') };
}
