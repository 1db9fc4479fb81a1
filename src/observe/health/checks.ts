import { errorText } from '../../lib/error-text.ts';

/** Undefined if all is well, or a note for who wants to know; a text says why it is not. */
export type Check = () => undefined | { readonly note: string } | string;

export interface CheckResult {
  readonly name: string;
  /** Undefined if it passed. */
  readonly reason: string | undefined;
  readonly note?: string | undefined;
}

/** What must hold for the proxy to be ready. Whoever knows something adds a check for it. */
export class Checks {
  readonly #checks = new Map<string, Check>();

  add(name: string, check: Check): void {
    if (this.#checks.has(name)) throw new RangeError(`a check named ${name} was added before`);
    this.#checks.set(name, check);
  }

  /** In the order in which they were added. */
  run(): CheckResult[] {
    return [...this.#checks].map(([name, check]) => ({ name, ...outcomeOf(check) }));
  }
}

function outcomeOf(check: Check): Omit<CheckResult, 'name'> {
  try {
    const outcome = check();
    return typeof outcome === 'object' ? { reason: undefined, ...outcome } : { reason: outcome };
  } catch (error) {
    return { reason: errorText(error) };
  }
}
