import { type Ip, joinHostPort } from '../net/index.ts';
import type { Caller } from './caller.ts';
import type { ProbeResult } from './playground/index.ts';

/** How some connections were answered. */
export interface Observation {
  /** The endpoints that answered, by `ip:port`. */
  readonly answers: ReadonlyMap<string, Answers>;
  /** `refused`, `silent`, `not permitted`, or the name of another failure. */
  readonly failures: ReadonlySet<string>;
}

export interface Answers {
  readonly count: number;
  /** How the endpoint saw its callers: `itself` (the caller's own address), `node`, or another address. */
  readonly seenAs: ReadonlySet<string>;
}

/** The words of the demo for the failures of a probe. */
const FAILURES: Readonly<Record<string, string>> = { timeout: 'silent', EPERM: 'not permitted' };

/** `nodeIPs` are the addresses of the node. Some modes also give it the address of the frontend. */
export function observationOf({ answers, failures }: ProbeResult, caller: Caller, nodeIPs: readonly Ip[]): Observation {
  const answered = [...answers].map(([answer, count]) => {
    const [ip = '', port = '', seenIp = ''] = answer.split(' ');
    const seenAs = nodeIPs.some(nodeIP => nodeIP === seenIp) ? 'node' : seenIp === caller.ip ? 'itself' : seenIp;
    return {
      answers: new Map([[joinHostPort(ip, port), { count, seenAs: new Set([seenAs]) }]]),
      failures: new Set<string>(),
    };
  });
  const failed = { answers: new Map(), failures: new Set([...failures].map(name => FAILURES[name] ?? name)) };
  return combine([...answered, failed]);
}

export function combine(observations: readonly Observation[]): Observation {
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

export function answerCount({ answers }: Observation): number {
  return [...answers.values()].reduce((sum, { count }) => sum + count, 0);
}
