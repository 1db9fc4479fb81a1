import type { Impairments } from '../world/impairments.ts';
import type { AddressState, Ledger } from '../world/ledger.ts';
import type { Violation } from './violation.ts';

/** One attempt to connect. Times are milliseconds since 1970. */
export interface Attempt {
  readonly client: string;
  readonly address: string;
  readonly begin: number;
  readonly end: number;
  /** The endpoint that answered, as `IP:PORT`. Undefined if the attempt failed. */
  readonly answer: string | undefined;
  readonly failure: string;
}

/** An endpoint that is gone may get new connections for this long. */
export const GRACE_MS = 1000;

/** When a busy machine keeps the proxy or the API server from working, that time does not count. */
export type Starved = (begin: number, end: number) => number;
const NEVER_STARVED: Starved = () => 0;

/** A wait this long before a connection may still concern it. */
const STARVED_BEFORE_MS = 3000;

/**
 * A connection must get what the API server had for its address at some moment of the last second. If the proxy was
 * impaired meanwhile, the moments since a second before that count, too.
 */
export function judgeAttempt(
  attempt: Attempt,
  ledger: Ledger,
  impairments: Impairments,
  starved = NEVER_STARVED,
): Violation | undefined {
  const { address, begin, end, answer } = attempt;
  const graceMs = graceOf(attempt, starved);
  const known = impairments.earliestKnown(begin - graceMs, end);
  const oldest = known === undefined ? begin - graceMs : known - graceMs;
  const states = ledger.statesBetween(address, oldest, end);
  if (answer === undefined) {
    const mayFail = states.some(({ answers }) => answers.size === 0) || impairments.overlaps('rules', oldest, end);
    return mayFail ? undefined : violation('a Service with endpoints answers', attempt, states);
  }
  if (states.some(({ answers }) => answers.has(answer))) return undefined;
  if (known !== undefined && ledger.hadApart(address, answer, oldest, end)) return undefined;
  return violation('no connection reaches a wrong or a former endpoint', attempt, states);
}

/** For how long an endpoint that is gone may get this connection. */
export function graceOf({ begin, end }: Attempt, starved: Starved): number {
  return GRACE_MS + starved(begin - GRACE_MS - STARVED_BEFORE_MS, end);
}

function violation(invariant: string, attempt: Attempt, states: readonly AddressState[]): Violation {
  const { client, address, begin, end, answer, failure } = attempt;
  const result = answer === undefined ? `failed (${failure})` : `was answered by ${answer}`;
  const time = (at: number) => (Number.isFinite(at) && at > 0 ? new Date(at).toISOString().slice(11, 23) : '…');
  const known = states.map(({ from, until, answers }) => `${time(from)}–${time(until)} {${[...answers].join(' ')}}`);
  return {
    invariant,
    facts: `${client} to ${address} ${result}, ${time(begin)}–${time(end)}; the API server had ${known.join(', ')}`,
  };
}
