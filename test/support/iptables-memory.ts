import { chainOfRule, type RestoreText } from '../../src/modes/iptables/rules/restore-text.ts';
import { inOrder, servicePort } from './iptables-rules.ts';

/** Tables in memory that take texts as `iptables-restore --noflush` does, and throw where it would refuse a text. */
export class MemoryTables {
  readonly #chains = new Map<string, string[]>();

  restore(text: RestoreText): void {
    for (const name of ['filter', 'nat'] as const) {
      const { chains, rules } = text.table(name);
      for (const chain of chains) this.#chains.set(`${name} ${chain}`, []);
      for (const rule of rules) this.#run(name, rule);
    }
  }

  rulesOf(table: string, chain: string): readonly string[] {
    return this.#chains.get(`${table} ${chain}`) ?? [];
  }

  /** All chains with their rules. In a shared chain, the rules of one service port keep their order. */
  byServicePort(): Readonly<Record<string, readonly string[]>> {
    const chains = [...this.#chains].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(
      chains.map(([name, rules]) => [name, inOrder(name.split(' ')[1] ?? '', rules, servicePort)]),
    );
  }

  #run(table: string, line: string): void {
    const chain = chainOfRule(line);
    const rules = this.#chains.get(`${table} ${chain}`);
    if (!rules) throw new Error(`no chain ${chain}: ${line}`);
    const rule = `-A${line.slice(2)}`;
    const command = line.slice(0, 2);
    if (command === '-A') rules.push(rule);
    else if (command === '-I') rules.unshift(rule);
    else if (command === '-D') this.#delete(rules, rule);
    else this.#deleteChain(table, chain);
  }

  #delete(rules: string[], rule: string): void {
    const at = rules.indexOf(rule);
    if (at < 0) throw new Error(`no such rule: ${rule}`);
    rules.splice(at, 1);
  }

  #deleteChain(table: string, chain: string): void {
    const isUsed = [...this.#chains].some(([name, rules]) => {
      return name.startsWith(`${table} `) && rules.some(rule => rule.endsWith(`-j ${chain}`));
    });
    if (isUsed || this.#chains.get(`${table} ${chain}`)?.length !== 0) throw new Error(`${chain} is used`);
    this.#chains.delete(`${table} ${chain}`);
  }
}
