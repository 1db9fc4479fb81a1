import { bytesOf } from '../../../kernel/bpf/index.ts';
import { type Family, familyOf, writeIp } from '../../../net/index.ts';
import { type Endpoint, encoded, familyOfLength, readIp, structOf, writeNumber, writePort } from './bytes.ts';
import { Member4, Member6 } from './layout.ts';

/** The key of `members4` and `members6`: an endpoint of a pool with affinity. */
export interface MemberKey extends Endpoint {
  readonly pool: number;
}

const MEMBERS = { IPv4: Member4, IPv6: Member6 } as const;

export const MEMBER_BYTES: Readonly<Record<Family, number>> = { IPv4: bytesOf(Member4), IPv6: bytesOf(Member6) };

/** The value of every member. Programs only look whether there is one. */
export const MEMBER_VALUE: Buffer = Buffer.from([1, 0, 0, 0]);

export function encodeMember(member: MemberKey): Buffer {
  return encoded(MEMBER_BYTES[familyOf(member.ip)], (into, at) => writeMember(member, into, at));
}

/** Writes a key into bytes that are zero, or that held a key of the same family. */
export function writeMember({ pool, ip, port }: MemberKey, into: Buffer, at: number): void {
  const member = structOf(ip, MEMBERS);
  writeNumber(into, at, member.pool, pool);
  writeIp(ip, into, at + member.address.offset);
  writePort(into, at, member.port, port);
}

export function decodeMember(bytes: Buffer): MemberKey {
  const family = familyOfLength(bytes.length, MEMBERS);
  const { pool, address, port } = MEMBERS[family];
  return {
    pool: bytes.readUInt32LE(pool.offset),
    ip: readIp(bytes, address.offset, family),
    port: bytes.readUInt16BE(port.offset),
  };
}
