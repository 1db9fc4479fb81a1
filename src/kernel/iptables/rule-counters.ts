import { StringDecoder } from 'node:string_decoder';

/** A rule of iptables-save with its counter of packets. */
export interface CountedRule {
  readonly table: string;
  readonly chain: string;
  readonly packets: number;
  /** The text after `-A CHAIN`. */
  readonly rule: string;
}

const RULE = /^\[(\d+):\d+\] -A (\S+) (.*)$/;

/** Reads the output of `iptables-save -c`, piece by piece as it arrives. Rules that counted nothing are left out. */
export class RuleCounterParser {
  readonly #decoder = new StringDecoder('utf8');
  readonly #onRule: (rule: CountedRule) => void;
  #table = '';
  #rest = '';

  constructor(onRule: (rule: CountedRule) => void) {
    this.#onRule = onRule;
  }

  write(chunk: Uint8Array): void {
    this.#readLines(this.#decoder.write(chunk));
  }

  end(): void {
    this.#readLines(`${this.#decoder.end()}\n`);
  }

  #readLines(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('*')) this.#table = line.slice(1).trim();
      else if (!line.startsWith('[0:')) this.#readRule(line);
    }
  }

  #readRule(line: string): void {
    const [, packets, chain, rule] = RULE.exec(line) ?? [];
    if (chain !== undefined && rule !== undefined)
      this.#onRule({ table: this.#table, chain, packets: Number(packets), rule });
  }
}
