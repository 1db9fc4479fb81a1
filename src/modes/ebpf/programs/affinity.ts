import { bytesOf } from '../../../kernel/bpf/index.ts';
import { type Family, familyOf, writeIp } from '../../../net/index.ts';
import { type Endpoint, encoded, familyOfLength, readIp, structOf, writePort } from './bytes.ts';
import { Affinity4, Affinity6, AffinityKey } from './layout.ts';

/** The key of `affinity4` and `affinity6`. */
export interface AffinityKeyValue {
  /** The cookie of the client's network namespace. */
  readonly client: bigint;
  /** The identity of the pool. */
  readonly identity: bigint;
}

/** The value of `affinity4` and `affinity6`. */
export interface AffinityValue {
  /** When the client last connected, in nanoseconds since the machine started, with the time that it slept. */
  readonly seen: bigint;
  readonly endpoint: Endpoint;
}

const AFFINITIES = { IPv4: Affinity4, IPv6: Affinity6 } as const;

export const AFFINITY_KEY_BYTES = bytesOf(AffinityKey);
export const AFFINITY_BYTES: Readonly<Record<Family, number>> = {
  IPv4: bytesOf(Affinity4),
  IPv6: bytesOf(Affinity6),
};

export function encodeAffinityKey({ client, identity }: AffinityKeyValue): Buffer {
  return encoded(AFFINITY_KEY_BYTES, into => {
    into.writeBigUInt64LE(client, AffinityKey.client.offset);
    into.writeBigUInt64LE(identity, AffinityKey.pool.offset);
  });
}

export function decodeAffinityKey(bytes: Buffer): AffinityKeyValue {
  return {
    client: bytes.readBigUInt64LE(AffinityKey.client.offset),
    identity: bytes.readBigUInt64LE(AffinityKey.pool.offset),
  };
}

export function encodeAffinity({ seen, endpoint: { ip, port } }: AffinityValue): Buffer {
  const affinity = structOf(ip, AFFINITIES);
  return encoded(AFFINITY_BYTES[familyOf(ip)], into => {
    into.writeBigUInt64LE(seen, affinity.seen.offset);
    writeIp(ip, into, affinity.address.offset);
    writePort(into, 0, affinity.port, port);
  });
}

export function decodeAffinity(bytes: Buffer): AffinityValue {
  const family = familyOfLength(bytes.length, AFFINITIES);
  const { seen, address, port } = AFFINITIES[family];
  const endpoint = { ip: readIp(bytes, address.offset, family), port: bytes.readUInt16BE(port.offset) };
  return { seen: bytes.readBigUInt64LE(seen.offset), endpoint };
}
