import { addToHash, endHash, hashStart } from '../../lib/stable-hash.ts';
import type { HashInput } from '../../model/index.ts';
import { type Family, type Ip, ipFromBytes } from '../../net/index.ts';

const ADDRESS: Readonly<Record<Family, { readonly from: number; readonly to: number }>> = {
  IPv4: { from: 4, to: 8 },
  IPv6: { from: 8, to: 24 },
};
const PORT = { from: 2, to: 4 };

/** The address in a sockaddr, as a key for clients. Decoding it to text would cost more. */
export function clientKey(family: Family, address: Buffer): string {
  const { from, to } = ADDRESS[family];
  return address.toString('latin1', from, to);
}

/** The address that a key stands for. */
export function clientIp(key: string): Ip | undefined {
  return ipFromBytes(Buffer.from(key, 'latin1'));
}

/** A hash of the client in a sockaddr. All nodes make the same one, so a client gets the same endpoint at each node. */
export function hashClient(family: Family, address: Buffer, by: HashInput): number {
  const hash = addRange(hashStart(), address, ADDRESS[family]);
  return endHash(by === 'client-address' ? hash : addRange(hash, address, PORT));
}

function addRange(hash: number, bytes: Buffer, { from, to }: { readonly from: number; readonly to: number }): number {
  let value = hash;
  for (let i = from; i < to; i++) value = addToHash(value, bytes[i] ?? 0);
  return value;
}
