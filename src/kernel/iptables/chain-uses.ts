import { StringDecoder } from 'node:string_decoder';
import { uninterrupted } from '../netlink/index.ts';
import type { NetworkNamespace } from '../netns.ts';
import { NftablesSocket } from '../nftables/index.ts';
import type { IptablesFamily } from './arguments.ts';

/** The chains of each existing table, each with its number of uses: its own rules, and the rules that jump to it. */
export type ChainUses = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** In the nf_tables backend each table of iptables is a table of nf_tables. */
export async function nftChainUses(
  family: IptablesFamily,
  namespace: NetworkNamespace | undefined,
): Promise<ChainUses> {
  const socket = NftablesSocket.open({ namespace });
  try {
    return await uninterrupted(() => {
      const uses = new Map<string, Map<string, number>>();
      for (const { table, name, use } of socket.listChainUses(family)) tableOf(uses, table).set(name, use);
      return uses;
    });
  } finally {
    socket.close();
  }
}

function tableOf(uses: Map<string, Map<string, number>>, name: string): Map<string, number> {
  const table = uses.get(name) ?? new Map<string, number>();
  uses.set(name, table);
  return table;
}

export function nftGeneration(namespace: NetworkNamespace | undefined): number {
  const socket = NftablesSocket.open({ namespace });
  try {
    return socket.generation();
  } finally {
    socket.close();
  }
}

const RULE = /^(?:\[\d+:\d+\] )?-A (\S+)(?:.* -[jg] (\S+))?/;

/** Counts the uses in the output of iptables-save, piece by piece as it arrives. */
export class ChainUsesParser {
  readonly #decoder = new StringDecoder('utf8');
  readonly #uses = new Map<string, Map<string, number>>();
  #table = new Map<string, number>();
  #rest = '';

  write(chunk: Uint8Array): void {
    this.#readLines(this.#decoder.write(chunk));
  }

  end(): ChainUses {
    this.#readLines(`${this.#decoder.end()}\n`);
    return this.#uses;
  }

  #readLines(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('*')) this.#table = tableOf(this.#uses, line.slice(1));
      else if (line.startsWith(':')) this.#table.set(line.slice(1, line.indexOf(' ')), 0);
      else this.#countRule(line);
    }
  }

  #countRule(line: string): void {
    const [, chain, target] = RULE.exec(line) ?? [];
    for (const name of [chain, target]) {
      const known = name === undefined ? undefined : this.#table.get(name);
      // A target that is no chain of the table is a target of the kernel, such as ACCEPT.
      if (name !== undefined && known !== undefined) this.#table.set(name, known + 1);
    }
  }
}
