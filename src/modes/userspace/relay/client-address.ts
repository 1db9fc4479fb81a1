import type { Family } from '../../../net/index.ts';

/** A sockaddr's address, as a key for clients that is cheap to make. */
export function clientKey(family: Family, address: Buffer): string {
  return family === 'IPv4' ? address.toString('latin1', 4, 8) : address.toString('latin1', 8, 24);
}
