import { type Ip, joinHostPort } from '../net/index.ts';
import type { Caller } from './caller.ts';
import type { ProbeResult } from './playground/index.ts';

/** What connections got. */
export interface Observation {
  /** Endpoints that answered, by `ip:port`. */
  readonly answers: ReadonlyMap<string, Answers>;
  /** `refused`, `silent`, `not permitted`, or another failure's name. */
  readonly failures: ReadonlySet<string>;
}

export interface Answers {
  readonly count: number;
  /** `itself`, `node`, or the address of someone else. */
  readonly seenAs: ReadonlySet<string>;
}

/** The failures of a probe, in the words of a table. */
const FAILURES: Readonly<Record<string, string>> = { timeout: 'silent', EPERM: 'not permitted' };

export function observationOf({ answers, failures }: ProbeResult, caller: Caller, nodeIPs: readonly Ip[]): Observation {
  const read = [...answers].map(([answer, count]) => {
    const [ip = '', port = '', seen = ''] = answer.split(' ');
    const seenAs = nodeIPs.some(own => own === seen) ? 'node' : seen === caller.ip ? 'itself' : seen;
    return { answers: new Map([[joinHostPort(ip, port), { count, seenAs: new Set([seenAs]) }]]), failures: NONE };
  });
  return sumOf([...read, { answers: new Map(), failures: new Set([...failures].map(name => FAILURES[name] ?? name)) }]);
}

const NONE: ReadonlySet<string> = new Set();

/** Several observations as one. */
export function sumOf(observations: readonly Observation[]): Observation {
  const answers = new Map<string, Answers>();
  for (const [endpoint, { count, seenAs }] of observations.flatMap(({ answers }) => [...answers])) {
    const before = answers.get(endpoint);
    answers.set(endpoint, {
      count: count + (before?.count ?? 0),
      seenAs: new Set([...(before?.seenAs ?? []), ...seenAs]),
    });
  }
  return { answers, failures: new Set(observations.flatMap(({ failures }) => [...failures])) };
}

export function countOf({ answers }: Observation): number {
  return [...answers.values()].reduce((sum, { count }) => sum + count, 0);
}
