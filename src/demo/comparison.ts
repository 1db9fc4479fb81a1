import type { Outcome, SeenAs } from '../explain/index.ts';
import { answerCount, type Observation } from './observation.ts';

/** With this many tries for each endpoint, the chance to miss one of several equally likely endpoints is e⁻²⁰. */
export const TRIES_PER_ENDPOINT = 20;

/** Says what should be different in the observation. Undefined if it agrees with the expectation. */
export function findMismatch(expected: Outcome, observed: Observation): string | undefined {
  switch (expected.kind) {
    case 'answered':
      return findWrongAnswer(expected, observed);
    case 'refused':
      return findWrongFailure(observed, 'refused');
    case 'silent':
      return findWrongFailure(observed, 'silent');
    // The machines beyond the proxy decide what such a connection gets.
    case 'elsewhere':
      return observed.answers.size > 0 ? 'no endpoint should answer' : undefined;
  }
}

/** Whether more tries would hardly show anything new. */
export function isConclusive(expected: Outcome, observed: Observation): boolean {
  if (expected.kind !== 'answered' || expected.isSticky || findMismatch(expected, observed) !== undefined) return true;
  const { length } = expected.endpoints;
  return observed.answers.size === length || hasEnoughTries(length, observed);
}

function hasEnoughTries(endpoints: number, observed: Observation): boolean {
  return answerCount(observed) >= TRIES_PER_ENDPOINT * endpoints;
}

/** The kernel reports EPERM for a datagram of the node itself if it drops it, also if it rejects it as well. */
function findWrongFailure({ answers, failures }: Observation, wanted: string): string | undefined {
  if (answers.size > 0) return 'no endpoint should answer';
  return [...failures].every(failure => failure === wanted || failure === 'not permitted')
    ? undefined
    : `should be ${wanted}`;
}

type Answered = Extract<Outcome, { kind: 'answered' }>;

function findWrongAnswer({ endpoints, lost, isSticky }: Answered, observed: Observation): string | undefined {
  const names = endpoints.map(({ text }) => text);
  if (observed.failures.size > 0 && lost.length === 0) return `${listOf(names)} should answer`;
  for (const [name, { seenAs }] of observed.answers) {
    const wanted = endpoints.find(({ text }) => text === name)?.seenAs;
    if (wanted === undefined) return `${name} should not answer`;
    if ([...seenAs].some(caller => caller !== wanted)) return `${name} should see ${nameOf(wanted)}`;
  }
  if (isSticky) return observed.answers.size > 1 ? 'always the same endpoint should answer' : undefined;
  const missing = names.filter(name => !observed.answers.has(name));
  return missing.length > 0 && hasEnoughTries(endpoints.length, observed)
    ? `${listOf(missing)} should answer too`
    : undefined;
}

function nameOf(seenAs: SeenAs): string {
  return seenAs === 'node' ? 'the node as its caller' : "the caller's own address";
}

const MAX_NAMED = 3;

function listOf(endpoints: readonly string[]): string {
  const more = endpoints.length - MAX_NAMED;
  return [...endpoints.slice(0, MAX_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(' and ');
}
