import type { Endpoint } from '../../src/model/index.ts';
import type { LiveEndpoints } from '../../src/plan/index.ts';

/** Gives endpoints a part of their weight, by address. The others have all of it. `reason`: why they have only a part. */
export function liveShares(
  shares: Readonly<Record<string, number>>,
  reason: 'slow start' | 'open connections' = 'slow start',
): LiveEndpoints {
  const share = ({ ip }: Endpoint) => shares[ip] ?? 1;
  const isInSlowStart = (endpoint: Endpoint) => reason === 'slow start' && share(endpoint) < 1;
  return { of: () => ({ share, isInSlowStart, isEjected: () => false }) };
}
