import type { Commit } from '../../../kernel/nftables/index.ts';
import type { TableAccess } from './table-access.ts';

/** Another program changed the ruleset while the writer wrote, so the writer must read the table again. */
export class ConcurrentChangeError extends Error {
  override readonly name = 'ConcurrentChangeError';
}

/** Detects that another program changed the ruleset: its generation is not the one that our last commit made. */
export class GenerationGuard {
  readonly #table: TableAccess;
  #expected: number;

  constructor(table: TableAccess) {
    this.#table = table;
    this.#expected = table.generation();
  }

  noteCommit({ generation }: Commit): void {
    // If a transaction begins by deleting the table, the kernel does not say which generation it made.
    this.#expected = generation ?? this.#table.generation();
  }

  get isConcurrentlyChanged(): boolean {
    return this.#table.generation() !== this.#expected;
  }

  /** Throws if another program may be the reason for the kernel's refusal. */
  check(cause: Error): void {
    if (!this.isConcurrentlyChanged) return;
    throw new ConcurrentChangeError(`another program changes the ruleset: ${cause.message}`, { cause });
  }
}
