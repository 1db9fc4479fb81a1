import { errorText } from '../../lib/error-text.ts';
import type { Problem } from '../../lib/problem.ts';

export interface CheckOutcome {
  /** False if the proxy is not ready because of this check. The default is true. */
  readonly isReady?: boolean | undefined;
  readonly note?: string | undefined;
  /** A check that is ready may have problems too. */
  readonly problems?: readonly Problem[] | undefined;
}

/** Undefined: ready, with nothing to note. A check that throws is not ready. */
export type Check = () => CheckOutcome | undefined;

export interface CheckResult extends CheckOutcome {
  readonly name: string;
  readonly isReady: boolean;
}

/** What must hold for the proxy to be ready. Each part of the proxy adds its own checks. */
export class Checks {
  readonly #checks = new Map<string, Check>();

  add(name: string, check: Check): void {
    if (this.#checks.has(name)) throw new RangeError(`there is a check named ${name} already`);
    this.#checks.set(name, check);
  }

  /** Results in the order in which the checks were added. */
  run(): CheckResult[] {
    return [...this.#checks].map(([name, check]) => ({ name, ...outcomeOf(check) }));
  }
}

function outcomeOf(check: Check): CheckOutcome & { readonly isReady: boolean } {
  try {
    const { isReady = true, ...rest } = check() ?? {};
    return { isReady, ...rest };
  } catch (error) {
    return { isReady: false, problems: [{ message: errorText(error) }] };
  }
}
