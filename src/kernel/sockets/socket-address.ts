import { familyOf, type Ip, writeIp } from '../../net/index.ts';

export const AF_INET = 2;
export const AF_INET6 = 10;

/** `struct sockaddr_in` or `struct sockaddr_in6`, without flow label and scope. */
export function encodeSocketAddress(ip: Ip, port: number): Buffer {
  const v4 = familyOf(ip) === 'IPv4';
  const bytes = Buffer.alloc(v4 ? 16 : 28);
  bytes.writeUInt16LE(v4 ? AF_INET : AF_INET6, 0);
  bytes.writeUInt16BE(port, 2);
  writeIp(ip, bytes, v4 ? 4 : 8);
  return bytes;
}
