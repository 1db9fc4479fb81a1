import type { PortDetail } from '../../../../../inspect/index.ts';

/** `weighted (annotation)`, `consistent-hash by client-address (default)` */
export function balanceWords({ algorithm, from, unavailable, hashBy }: NonNullable<PortDetail['balance']>): string {
  if (unavailable) return `as the mode does (${unavailable} is not available)`;
  if (!algorithm) return 'as the mode does';
  return `${algorithm}${hashBy ? ` by ${hashBy}` : ''} (${from})`;
}
