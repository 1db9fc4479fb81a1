import { Iptables, IptablesError, type IptablesFamily, programOfBackend } from '../kernel/iptables/index.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import type { TraceFamily } from '../kernel/nftables/index.ts';

/** The tables of iptables. In nf_tables they have these names in the families ip and ip6. */
const TABLES: ReadonlySet<string> = new Set(['raw', 'mangle', 'nat', 'filter', 'security']);

export function isIptablesTable(family: TraceFamily, table: string): family is IptablesFamily {
  return (family === 'ip' || family === 'ip6') && TABLES.has(table);
}

/** The rules of iptables-nft as iptables prints them. nf_tables stores some of them as bytes that only iptables knows. */
export class IptablesTexts {
  readonly #namespace: NetworkNamespace | undefined;
  readonly #programs = new Map<IptablesFamily, Promise<Iptables>>();
  readonly #chains = new Map<string, readonly string[]>();

  constructor(namespace: NetworkNamespace | undefined) {
    this.#namespace = namespace;
  }

  /** The text after `-A CHAIN`. Undefined if iptables is missing, or does not understand the table. */
  async rule(family: IptablesFamily, table: string, chain: string, position: number): Promise<string | undefined> {
    const key = `${family} ${table} ${chain}`;
    const rules = this.#chains.get(key) ?? (await this.#list(family, table, chain));
    this.#chains.set(key, rules);
    return rules[position - 1];
  }

  /** Forgets all rules, because some have changed. */
  clear(): void {
    this.#chains.clear();
  }

  async #list(family: IptablesFamily, table: string, chain: string): Promise<readonly string[]> {
    try {
      return await (await this.#program(family)).listRules(table, chain);
    } catch (error) {
      if (error instanceof IptablesError) return [];
      throw error;
    }
  }

  #program(family: IptablesFamily): Promise<Iptables> {
    const known = this.#programs.get(family);
    if (known) return known;
    const program = programOfBackend(family, 'nf_tables');
    const opened = Iptables.open(family, { program, namespace: this.#namespace, timeoutMs: 5000 });
    this.#programs.set(family, opened);
    return opened;
  }
}
