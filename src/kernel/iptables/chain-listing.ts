import { StringDecoder } from 'node:string_decoder';
import type { NetworkNamespace } from '../netns.ts';
import { NftablesSocket } from '../nftables/index.ts';
import type { IptablesFamily } from './arguments.ts';
import type { ChainName } from './save.ts';

/** The rules of some chains by table and chain, each as the text after `-A CHAIN`. What does not exist is not in it. */
export type ChainListing = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

/** Whether a listing should have a rule. A chain that all service ports share may have a hundred thousand of them. */
export type KeepRule = (chain: ChainName, rule: string) => boolean;

/** Limits memory if a chain has more rules than anybody reads. */
const MAX_RULES = 20_000;

/** Reads the output of iptables-save and of `iptables -S`, piece by piece as it arrives, and keeps only some of it. */
export class ChainListingParser {
  readonly #decoder = new StringDecoder('utf8');
  readonly #wanted: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #keep: KeepRule;
  readonly #tables = new Map<string, Map<string, string[]>>();
  #table = '';
  /** The chains of the table. */
  #chains = new Map<string, string[]>();
  #rest = '';
  #rules = 0;

  constructor(wanted: readonly ChainName[], keep: KeepRule) {
    const tables = new Map<string, Set<string>>();
    for (const { table, chain } of wanted) tables.set(table, (tables.get(table) ?? new Set()).add(chain));
    this.#wanted = tables;
    this.#keep = keep;
  }

  /** The table of the lines that follow. Only iptables-save names the table itself. */
  beginTable(table: string): void {
    this.#table = table;
    this.#chains = this.#tables.get(table) ?? new Map();
    this.#tables.set(table, this.#chains);
  }

  write(chunk: Uint8Array): void {
    this.#readLines(this.#decoder.write(chunk));
  }

  /** The end of one program's output. */
  flush(): void {
    this.#readLines(`${this.#decoder.end()}\n`);
  }

  /** Not all rules were kept. */
  get isCut(): boolean {
    return this.#rules > MAX_RULES;
  }

  get listing(): ChainListing {
    return this.#tables;
  }

  #readLines(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('-A ')) this.#readRule(line);
      else if (line.startsWith('*')) this.beginTable(line.slice(1).trim());
      else if (line.startsWith(':')) this.#readChain(line.slice(1));
      else if (line.startsWith('-N ') || line.startsWith('-P ')) this.#readChain(line.slice(3));
    }
  }

  #readChain(text: string): void {
    const [chain = ''] = text.split(' ', 1);
    if (this.#wanted.get(this.#table)?.has(chain) && !this.#chains.has(chain)) this.#chains.set(chain, []);
  }

  #readRule(line: string): void {
    const end = line.indexOf(' ', 3);
    const chain = end < 0 ? line.slice(3) : line.slice(3, end);
    const rules = this.#chains.get(chain);
    if (!rules) return;
    const rule = end < 0 ? '' : line.slice(end + 1);
    if (this.#keep({ table: this.#table, chain }, rule) && ++this.#rules <= MAX_RULES) rules.push(rule);
  }
}

/** The tables of these names that exist. The programs of the nf_tables backend would create a table that is missing. */
export function existingNftTables(
  family: IptablesFamily,
  tables: Iterable<string>,
  namespace: NetworkNamespace | undefined,
): readonly string[] {
  const socket = NftablesSocket.open({ namespace });
  try {
    return [...new Set(tables)].filter(table => socket.lookups.table(family, table) !== undefined);
  } finally {
    socket.close();
  }
}
