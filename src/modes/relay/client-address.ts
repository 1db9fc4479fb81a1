import { type Family, type Ip, ipFromBytes } from '../../net/index.ts';

/** The address in a sockaddr, as a key for clients. Decoding it to text would cost more. */
export function clientKey(family: Family, address: Buffer): string {
  return family === 'IPv4' ? address.toString('latin1', 4, 8) : address.toString('latin1', 8, 24);
}

/** The address that a key stands for. */
export function clientIp(key: string): Ip | undefined {
  return ipFromBytes(Buffer.from(key, 'latin1'));
}
