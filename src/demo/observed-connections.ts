import type { ObservedConnection } from '../inspect/index.ts';
import { joinHostPort } from '../net/index.ts';
import type { Question } from './demo.ts';
import type { Observation } from './observation.ts';

/** What the page draws of the connections of one question: one for each endpoint that answered, and each failure. */
export function observedConnections(
  { row, place }: Question,
  { answers, failures }: Observation,
  isAsPlanned: boolean,
): readonly ObservedConnection[] {
  const { port, frontend, ip } = row;
  if (ip === undefined) return [];
  const common = {
    service: port.plan.service,
    from: place,
    to: joinHostPort(ip, frontend.port),
    protocol: port.protocol,
    isAsPlanned,
  };
  return [
    ...[...answers].map(([endpoint, { count, seenAs }]) => ({
      ...common,
      endpoint,
      seenAs: [...seenAs].join(' or '),
      count,
    })),
    ...[...failures].map(failure => ({ ...common, failure, count: 1 })),
  ];
}
