import type { Table } from './fixed-rules.ts';

/** The input of iptables-restore. It is passed on line by line and never held as one text. */
export class RestoreText {
  readonly #tables = new Map<string, TableText>();

  constructor() {
    this.table('filter');
    this.table('nat');
  }

  /** Tables come in this order: filter, nat, then others. */
  table(name: Table | 'mangle'): TableText {
    const known = this.#tables.get(name);
    if (known) return known;
    const table = new TableText(name);
    this.#tables.set(name, table);
    return table;
  }

  get isEmpty(): boolean {
    return [...this.#tables.values()].every(({ isEmpty }) => isEmpty);
  }

  /** How many chains and rules it writes or removes. */
  get size(): number {
    return [...this.#tables.values()].reduce((sum, { chains, rules }) => sum + chains.length + rules.length, 0);
  }

  /** Leaves out tables without chains and rules. */
  *[Symbol.iterator](): Generator<string> {
    for (const table of this.#tables.values()) if (!table.isEmpty) yield* table;
  }

  toString(): string {
    return [...this].join('');
  }
}

export class TableText {
  readonly name: string;
  readonly chains: string[] = [];
  readonly rules: string[] = [];
  /** How many rules are left out because the kernel has them. */
  kept = 0;

  constructor(name: string) {
    this.name = name;
  }

  get isEmpty(): boolean {
    return this.chains.length + this.rules.length === 0;
  }

  /** How many rules it adds. */
  get added(): number {
    return this.rules.filter(line => line.startsWith('-A') || line.startsWith('-I')).length;
  }

  /** iptables-restore creates the chain, or empties it if it exists. */
  chain(name: string): void {
    this.chains.push(name);
  }

  rule(line: string): void {
    this.rules.push(line);
  }

  addChains(names: Iterable<string>): void {
    for (const name of names) this.chains.push(name);
  }

  addRules(lines: Iterable<string>): void {
    for (const line of lines) this.rules.push(line);
  }

  *[Symbol.iterator](): Generator<string> {
    yield `*${this.name}\n`;
    for (const name of this.chains) yield `:${name} - [0:0]\n`;
    for (const line of this.rules) yield `${line}\n`;
    yield 'COMMIT\n';
  }
}

/** The chain of a rule. */
export function chainOfRule(line: string): string {
  const end = line.indexOf(' ', 3);
  return line.slice(3, end < 0 ? undefined : end);
}

/** The same rule with another command. */
export function withCommand(command: '-I' | '-D', line: string): string {
  return `${command}${line.slice(2)}`;
}
