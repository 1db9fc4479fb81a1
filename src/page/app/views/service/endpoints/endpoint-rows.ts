import type { EndpointDetail } from '../../../../../inspect/index.ts';
import { percent } from '../../../parts/texts.ts';
import { isUsedByPolicy } from '../picture/model.ts';

export interface EndpointRow {
  readonly endpoint: EndpointDetail;
  /** Traffic of a policy that the port has uses it. */
  readonly isUsed: boolean;
  /** `ready`, `not ready`, `terminating, still serving` */
  readonly condition: string;
}

/** Rows that are shown before the operator asks for all. */
export const FIRST_ROWS = 200;

/** Used endpoints first, those of this node before others. Otherwise the order of the plan. */
export function endpointRows(endpoints: readonly EndpointDetail[]): readonly EndpointRow[] {
  const rank = ({ isUsed, endpoint }: EndpointRow) => (isUsed ? 0 : 2) + (endpoint.local ? 0 : 1);
  return endpoints
    .map(endpoint => ({
      endpoint,
      isUsed: isUsedByPolicy(endpoint),
      condition: conditionText(endpoint),
    }))
    .sort((a, b) => rank(a) - rank(b));
}

export function conditionText({
  ready,
  serving,
  terminating,
}: Pick<EndpointDetail, 'ready' | 'serving' | 'terminating'>): string {
  if (terminating) return serving ? 'terminating, still serving' : 'terminating';
  return ready ? 'ready' : 'not ready';
}

/** How many of the endpoints each policy uses. Undefined if the port has no traffic of that policy. */
export function usedCounts(endpoints: readonly EndpointDetail[]): {
  readonly cluster: number | undefined;
  readonly local: number | undefined;
} {
  const count = (policy: 'clusterPolicy' | 'localPolicy') =>
    endpoints.some(endpoint => endpoint[policy])
      ? endpoints.filter(endpoint => endpoint[policy]?.used).length
      : undefined;
  return { cluster: count('clusterPolicy'), local: count('localPolicy') };
}

/** `3`, or `3, 50 % of it for now` while it starts slowly. */
export function weightText({ weight, part }: EndpointDetail): string {
  if (weight === undefined) return '–';
  return part === undefined ? `${weight}` : `${weight}, ${percent(part)} of it for now`;
}
