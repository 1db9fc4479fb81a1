import { errorText } from '../lib/error-text.ts';

/** Undefined if all is well, else why not. */
export type Check = () => string | undefined;

export interface CheckResult {
  readonly name: string;
  readonly reason: string | undefined;
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
    return [...this.#checks].map(([name, check]) => ({ name, reason: reasonOf(check) }));
  }
}

function reasonOf(check: Check): string | undefined {
  try {
    return check();
  } catch (error) {
    return errorText(error);
  }
}
