import type { Attempt } from './connections.ts';
import type { Violation } from './violation.ts';

/** What an address answered in several attempts, beside what the API server has now. */
export interface Look {
  readonly address: string;
  readonly expected: ReadonlySet<string>;
  readonly attempts: readonly Attempt[];
}

/** The addresses that do not get what the API server has. */
export function wrongLooks(looks: readonly Look[]): readonly string[] {
  return looks.flatMap(({ address, expected, attempts }) => {
    const wrong = attempts.filter(({ answer }) => (answer === undefined ? expected.size > 0 : !expected.has(answer)));
    const [first] = wrong;
    if (!first) return [];
    return [`${address}: ${first.answer ?? first.failure} instead of {${[...expected].join(' ')}}`];
  });
}

export function recoveryViolation(wrong: readonly string[], boundMs: number): Violation {
  return {
    invariant: 'the proxy recovers in time',
    facts: `${boundMs / 1000} s after the last fault: ${wrong.join('; ')}`,
  };
}
