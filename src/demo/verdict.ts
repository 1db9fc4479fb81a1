import type { Expectation } from './expectation.ts';
import { countOf, type Observation } from './observation.ts';

/** An endpoint that is as likely as others is missed so often, for each of them, with a chance of e⁻²⁰. */
export const TRIES_AN_ENDPOINT = 20;

/** How what was seen differs from what should be; undefined if it does not. */
export function disagreement(expected: Expectation, seen: Observation): string | undefined {
  switch (expected.kind) {
    case 'answered':
      return wrongAnswers(expected, seen);
    case 'refused':
      return onlyFailure(seen, 'refused');
    case 'silent':
      return onlyFailure(seen, 'silent');
  }
}

/** Whether more tries can hardly show anything new. */
export function isSure(expected: Expectation, seen: Observation): boolean {
  if (expected.kind !== 'answered' || expected.sticky || disagreement(expected, seen) !== undefined) return true;
  return seen.answers.size === expected.by.size || isEnough(expected.by.size, seen);
}

function isEnough(endpoints: number, seen: Observation): boolean {
  return countOf(seen) >= TRIES_AN_ENDPOINT * endpoints;
}

/** A datagram that the node itself sends is told EPERM when it is dropped, whether or not it is rejected as well. */
function onlyFailure({ answers, failures }: Observation, wanted: string): string | undefined {
  if (answers.size > 0) return 'nobody should answer';
  return [...failures].every(failure => failure === wanted || failure === 'not permitted')
    ? undefined
    : `should be ${wanted}`;
}

type Answered = Extract<Expectation, { kind: 'answered' }>;

function wrongAnswers({ by, sticky }: Answered, seen: Observation): string | undefined {
  if (seen.failures.size > 0) return `${listOf([...by.keys()])} should answer`;
  for (const [endpoint, { seenAs }] of seen.answers) {
    const wanted = by.get(endpoint);
    if (wanted === undefined) return `${endpoint} should not answer`;
    if ([...seenAs].some(who => who !== wanted)) return `${endpoint} should see ${nameOf(wanted)}`;
  }
  if (sticky) return seen.answers.size > 1 ? 'always the same endpoint should answer' : undefined;
  const missing = [...by.keys()].filter(endpoint => !seen.answers.has(endpoint));
  return missing.length > 0 && isEnough(by.size, seen) ? `${listOf(missing)} should answer too` : undefined;
}

function nameOf(seenAs: 'itself' | 'node'): string {
  return seenAs === 'node' ? 'the node as its caller' : "the caller's own address";
}

const MOST_NAMED = 3;

function listOf(endpoints: readonly string[]): string {
  const more = endpoints.length - MOST_NAMED;
  return [...endpoints.slice(0, MOST_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(' and ');
}
