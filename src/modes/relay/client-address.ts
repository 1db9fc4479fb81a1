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
  const hashed = hashBytes(0x811c9dc5, address, ADDRESS[family]);
  return finish(by === 'client-address' ? hashed : hashBytes(hashed, address, PORT));
}

/** FNV-1a */
function hashBytes(start: number, bytes: Buffer, { from, to }: { readonly from: number; readonly to: number }): number {
  let value = start;
  for (let i = from; i < to; i++) value = Math.imul(value ^ (bytes[i] ?? 0), 0x01000193) >>> 0;
  return value;
}

/** Neighbouring addresses must not get neighbouring slots: every bit of the value changes every bit of the result. */
function finish(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
