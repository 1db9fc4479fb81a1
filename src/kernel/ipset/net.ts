import { type Cidr, familyOf, formatCidr, type Ip } from '../../net/index.ts';
import { asU8, type MessageWriter } from '../netlink/index.ts';
import { decodeAddress, encodeAddress } from './address.ts';

/** Writes a network as address and prefix length. The kernel requires the length even for a single address. */
export function encodeNet(writer: MessageWriter, ip: number, cidr: number, net: Cidr): void {
  encodeAddress(writer, ip, net.address);
  writer.u8(cidr, net.prefix);
}

/** Decodes a network. Without a prefix length it is a single address. */
export function decodeNet(data: ReadonlyMap<number, Buffer>, ip: number, cidr: number): Cidr | undefined {
  const address = decodeAddress(data.get(ip));
  if (address === undefined) return undefined;
  const prefix = asU8(data.get(cidr)) ?? bits(address);
  return prefix <= bits(address) ? { address, prefix } : undefined;
}

/** `10.0.0.0/8`. ipset prints a single address without a prefix length. */
export function printNet(net: Cidr): string {
  return net.prefix === bits(net.address) ? net.address : formatCidr(net);
}

function bits(ip: Ip): number {
  return familyOf(ip) === 'IPv4' ? 32 : 128;
}
