import { familyOf, type Ip, ipBytes, ipFromBytes } from '../../net/index.ts';
import { attributeMap, type MessageWriter } from '../netlink/index.ts';
import { NET_BYTEORDER } from './message.ts';

const IpAddr = { IPV4: 1, IPV6: 2 } as const;

/** Writes an address as the nested attribute `type`. */
export function encodeAddress(writer: MessageWriter, type: number, ip: Ip): void {
  const nest = writer.nest(type);
  const kind = familyOf(ip) === 'IPv4' ? IpAddr.IPV4 : IpAddr.IPV6;
  writer.data(kind | NET_BYTEORDER, ipBytes(ip)).close(nest);
}

export function decodeAddress(value: Buffer | undefined): Ip | undefined {
  if (!value) return undefined;
  const attributes = attributeMap(value);
  const v4 = attributes.get(IpAddr.IPV4);
  if (v4) return v4.length === 4 ? ipFromBytes(v4) : undefined;
  const v6 = attributes.get(IpAddr.IPV6);
  return v6?.length === 16 ? ipFromBytes(v6) : undefined;
}
