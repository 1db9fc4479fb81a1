import { setImmediate as nextTurn } from 'node:timers/promises';

const RULES_PER_TURN = 200;

/** Limits the work of one search, and remembers why the answer is incomplete. */
export class Budget {
  readonly #maxRules: number;
  readonly #timeoutMs: number;
  readonly #end: number;
  readonly #reasons = new Set<string>();
  #rules = 0;

  constructor({ maxRules, timeoutMs }: { readonly maxRules: number; readonly timeoutMs: number }) {
    this.#maxRules = maxRules;
    this.#timeoutMs = timeoutMs;
    this.#end = performance.now() + timeoutMs;
  }

  get rulesLeft(): number {
    return Math.max(0, this.#maxRules - this.#rules);
  }

  get msLeft(): number {
    return Math.max(0, this.#end - performance.now());
  }

  /** False if there was enough work. Lets other work run now and then. */
  async takeRule(): Promise<boolean> {
    if (this.rulesLeft === 0) this.leaveOut(`there are more than ${this.#maxRules} rules`);
    else if (this.isLate()) return false;
    else {
      if (++this.#rules % RULES_PER_TURN === 0) await nextTurn();
      return true;
    }
    return false;
  }

  isLate(): boolean {
    if (this.msLeft > 0) return false;
    this.leaveOut(`the search took longer than ${this.#timeoutMs} ms`);
    return true;
  }

  /** Notes why a part of the answer is missing. */
  leaveOut(reason: string): void {
    this.#reasons.add(reason);
  }

  get incomplete(): string | undefined {
    return this.#reasons.size === 0 ? undefined : [...this.#reasons].join('; ');
  }
}
