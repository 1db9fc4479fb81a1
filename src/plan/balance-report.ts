import type { Algorithm, Endpoint, HashInput } from '../model/index.ts';
import { configuredWeight } from './balance.ts';
import type { ServicePortPlan } from './service-port-plan.ts';

/** How a service port is balanced, for people and scripts. */
export interface BalanceReport {
  /** Absent if the mode does what it does without a choice. */
  readonly algorithm?: Algorithm;
  /** What chose it: an annotation of the Service, `--default-balance`, or only the mode. */
  readonly from: 'annotation' | 'default' | 'mode';
  /** The algorithm that the Service asks for although the mode does not have it. */
  readonly unavailable?: Algorithm;
  /** For a consistent hash. */
  readonly hashBy?: HashInput;
}

/** Undefined for the usual case: no choice, and nothing that the proxy learned. */
export function balanceReport({ balance, port }: ServicePortPlan): BalanceReport | undefined {
  if (!balance) return undefined;
  const { algorithm, unavailable, hashBy } = balance;
  return {
    ...(algorithm ? { algorithm } : {}),
    from: algorithm === undefined ? 'mode' : port.options.algorithm === undefined ? 'default' : 'annotation',
    ...(unavailable ? { unavailable } : {}),
    ...(algorithm === 'consistent-hash' ? { hashBy } : {}),
  };
}

/** `weighted (annotation)`, `consistent-hash by client-address (default)`, `as the mode does` */
export function balanceText({ algorithm, from, unavailable, hashBy }: BalanceReport): string {
  if (unavailable) return `as the mode does (${unavailable} is not available)`;
  if (!algorithm) return 'as the mode does';
  const shares = algorithm === 'least-connections' ? ': shares follow the open connections' : '';
  return `${algorithm}${hashBy ? ` by ${hashBy}` : ''} (${from})${shares}`;
}

/** The weight of an endpoint. */
export interface EndpointWeight {
  readonly weight: number;
  /** The part of its weight that it gets for now, from 0 to 1. Absent if that is all. */
  readonly part?: number;
}

/** Undefined if all endpoints of the port weigh the same, and get all of it. */
export function endpointWeight({ balance, port }: ServicePortPlan, endpoint: Endpoint): EndpointWeight | undefined {
  const now = balance?.weights?.get(endpoint.text);
  if (now === undefined) return undefined;
  const weight = balance?.algorithm === 'weighted' ? configuredWeight(port.options, endpoint) : 1;
  const part = weight > 0 ? now / weight : 1;
  return part === 1 ? { weight } : { weight, part };
}

/** `weight 3`, `weight 1, 50 % of it for now` */
export function weightText({ weight, part }: EndpointWeight): string {
  return `weight ${weight}${part === undefined ? '' : `, ${Math.round(part * 100)} % of it for now`}`;
}

/** The part of the slots that each endpoint has, by its text. */
export function slotShares(slots: readonly Endpoint[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { text } of slots) counts.set(text, (counts.get(text) ?? 0) + 1);
  for (const [text, count] of counts) counts.set(text, count / slots.length);
  return counts;
}
