import type { Endpoint } from '../model/index.ts';
import type { Outcome } from './outcome.ts';
import type { MetFrontend } from './target.ts';

/** The endpoints that a connection may get. */
export function reachedEndpoints({ plan }: MetFrontend, outcome: Outcome): readonly Endpoint[] {
  if (outcome.kind !== 'answered') return [];
  const { cluster, local } = plan.endpoints;
  const byText = new Map([...cluster, ...local].map(endpoint => [endpoint.text, endpoint]));
  return outcome.endpoints.flatMap(({ text }) => byText.get(text) ?? []);
}

/** One endpoint on this node and one elsewhere: packets to them take different ways. */
export function endpointsToReach(met: MetFrontend, outcome: Outcome): readonly Endpoint[] {
  const reached = reachedEndpoints(met, outcome);
  const local = reached.find(({ isLocal }) => isLocal);
  const remote = reached.find(({ isLocal }) => !isLocal);
  return [local, remote].flatMap(endpoint => endpoint ?? []);
}
