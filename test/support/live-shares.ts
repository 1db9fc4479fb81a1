import type { LiveEndpoints } from '../../src/plan/index.ts';

/** Gives endpoints a part of their weight, by address. The others have all of it. */
export function liveShares(shares: Readonly<Record<string, number>>): LiveEndpoints {
  return { of: () => ({ share: ({ ip }) => shares[ip] ?? 1, isEjected: () => false }) };
}
