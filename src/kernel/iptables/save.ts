import { StringDecoder } from 'node:string_decoder';

export interface SavedChain {
  readonly name: string;
  /** `ACCEPT` or `DROP` of a built-in chain. Other chains have no policy. */
  readonly policy: string | undefined;
  /** Exact up to 2⁵³. */
  readonly packets: number;
  readonly bytes: number;
  /** In order. */
  readonly rules: readonly SavedRule[];
}

export interface SavedRule {
  /** The text after `-A CHAIN`. */
  readonly text: string;
  /** Present only if the counters were saved. */
  readonly packets?: number;
  readonly bytes?: number;
}

export type SavedChains = ReadonlyMap<string, SavedChain>;
/** The chains of each table, in the order of the text. */
export type SavedTables = ReadonlyMap<string, SavedChains>;

export interface ChainName {
  readonly table: string;
  readonly chain: string;
}

type Chain = SavedChain & { readonly rules: SavedRule[] };

const CHAIN = /^:(\S+) (\S+)(?: \[(\d+):(\d+)\])?/;
const RULE = /^(?:\[(\d+):(\d+)\] )?-A (\S+)(?: (.*))?$/;

/**
 * Reads the output of iptables-save, piece by piece as it arrives. It ignores unknown lines. With `rules: false` it
 * keeps only the chains, which takes little memory even if there are a hundred thousand rules.
 */
export class SaveParser {
  readonly #decoder = new StringDecoder('utf8');
  readonly #tables = new Map<string, Map<string, Chain>>();
  readonly #keepRules: boolean;
  #table: Map<string, Chain> | undefined;
  #rest = '';

  constructor({ rules = true } = {}) {
    this.#keepRules = rules;
  }

  write(chunk: string | Uint8Array): void {
    const text = typeof chunk === 'string' ? chunk : this.#decoder.write(chunk);
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#readLine(line);
  }

  end(): SavedTables {
    this.write(`${this.#decoder.end()}\n`);
    return this.#tables;
  }

  #readLine(line: string): void {
    if (line.startsWith('*')) this.#openTable(line.slice(1).trim());
    else if (line === 'COMMIT') this.#table = undefined;
    else if (!this.#table) return;
    else if (line.startsWith(':')) this.#addChain(this.#table, line);
    else if (this.#keepRules) this.#addRule(this.#table, line);
  }

  #openTable(name: string): void {
    this.#table = this.#tables.get(name) ?? new Map();
    this.#tables.set(name, this.#table);
  }

  #addChain(table: Map<string, Chain>, line: string): void {
    const [, name, policy, packets = 0, bytes = 0] = CHAIN.exec(line) ?? [];
    if (name === undefined) return;
    const rules = table.get(name)?.rules ?? [];
    table.set(name, {
      name,
      policy: policy === '-' ? undefined : policy,
      packets: Number(packets),
      bytes: Number(bytes),
      rules,
    });
  }

  #addRule(table: Map<string, Chain>, line: string): void {
    const [, packets, bytes, name, text = ''] = RULE.exec(line) ?? [];
    if (name === undefined) return;
    let chain = table.get(name);
    if (!chain) {
      chain = { name, policy: undefined, packets: 0, bytes: 0, rules: [] };
      table.set(name, chain);
    }
    chain.rules.push(packets === undefined ? { text } : { text, packets: Number(packets), bytes: Number(bytes) });
  }
}

export function parseSave(text: string): SavedTables {
  const parser = new SaveParser();
  parser.write(text);
  return parser.end();
}

/** The chains whose names begin with the prefix, in the order of the text. */
export function chainsWithPrefix(save: SavedTables, prefix: string): ChainName[] {
  return [...save].flatMap(([table, chains]) =>
    [...chains.keys()].filter(chain => chain.startsWith(prefix)).map(chain => ({ table, chain })),
  );
}
