import { bytesOf } from '../../../kernel/bpf/index.ts';
import { ANY_IP, type Family, type Ip, isUnspecified, writeIp } from '../../../net/index.ts';
import { encoded, familyOfLength, readIp, writePort } from './bytes.ts';
import { Frontend4, Frontend6 } from './layout.ts';

/** The key of `frontends4` and `frontends6`. Sockets of other protocols are left to the network. */
export interface FrontendKey {
  readonly family: Family;
  /** Undefined for a node port. */
  readonly ip: Ip | undefined;
  readonly port: number;
}

const FRONTENDS = { IPv4: Frontend4, IPv6: Frontend6 } as const;
export const IPPROTO_TCP = 6;

export const FRONTEND_KEY_BYTES: Readonly<Record<Family, number>> = {
  IPv4: bytesOf(Frontend4),
  IPv6: bytesOf(Frontend6),
};

export function frontendKey(key: FrontendKey): Buffer {
  return encoded(FRONTEND_KEY_BYTES[key.family], (into, at) => writeFrontendKey(key.family, key, into, at));
}

/** Writes a key into bytes that are zero, or that held a key of the same family. */
export function writeFrontendKey(
  family: Family,
  { ip, port }: Omit<FrontendKey, 'family'>,
  into: Uint8Array,
  at: number,
): void {
  const frontend = family === 'IPv4' ? Frontend4 : Frontend6;
  writeIp(ip ?? ANY_IP[family], into, at + frontend.address.offset);
  writePort(into, at, frontend.port, port);
  into[at + frontend.protocol.offset] = IPPROTO_TCP;
}

export function decodeFrontendKey(bytes: Buffer): FrontendKey {
  const family = familyOfLength(bytes.length, FRONTENDS);
  const ip = readIp(bytes, 0, family);
  const port = bytes.readUInt16BE(FRONTENDS[family].port.offset);
  return { family, ip: isUnspecified(ip) ? undefined : ip, port };
}
