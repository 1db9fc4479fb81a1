import { bytesOf, struct, u8, u16, u32, u64 } from '../../../kernel/bpf/index.ts';
import { type Ip, ipFromBytes, writeIp } from '../../../net/index.ts';
import type { SocketAddress } from '../../mode.ts';
import { encodePeer, PEER_BYTES, PEER_STATE, Peer, type PeerValue } from '../programs/index.ts';

/** What the iterator adds to what a socket remembers. The address is in network byte order, the port is not. */
export const SocketEnd = struct({
  /** The kernel's number of the socket. No other socket of this machine has it. */
  cookie: u64,
  /** A state of TCP. */
  state: u8,
  zero: u8,
  port: u16,
  rest: u32,
  address: [u32, 4],
});

export const RECORD_BYTES: number = PEER_BYTES + bytesOf(SocketEnd);

/** One socket, as the iterator writes it. */
export interface SocketRecord extends PeerValue {
  readonly cookie: number;
  /** The address of the socket itself. */
  readonly caller: SocketAddress;
  readonly state: number;
}

/** Only the program in the kernel writes records. This is for tests. */
export function encodeRecord(record: SocketRecord): Buffer {
  const { cookie, caller, state } = record;
  const end = Buffer.alloc(bytesOf(SocketEnd));
  end.writeBigUInt64LE(BigInt(cookie), SocketEnd.cookie.offset);
  end.writeUInt8(state, SocketEnd.state.offset);
  end.writeUInt16LE(caller.port, SocketEnd.port.offset);
  writeIp(caller.ip, end, SocketEnd.address.offset);
  return Buffer.concat([encodePeer(record), end]);
}

/**
 * Reads the record that begins at an offset. Undefined if the socket forgot its Service while the iterator wrote it. The
 * caches make 100,000 records cheap.
 */
export function decodeRecord(bytes: Buffer, start: number, ips: IpTexts): SocketRecord | undefined {
  const state = bytes.readUInt32LE(start + Peer.state.offset);
  if (state !== PEER_STATE.IPv4 && state !== PEER_STATE.IPv6) return undefined;
  const isV4 = state === PEER_STATE.IPv4;
  const end = start + PEER_BYTES;
  return {
    namespace: bytes.readBigUInt64LE(start + Peer.namespace.offset),
    service: {
      ip: ips.at(bytes, start + Peer.service.offset, isV4),
      port: bytes.readUInt16BE(start + Peer.servicePort.offset),
    },
    endpoint: {
      ip: ips.at(bytes, start + Peer.endpoint.offset, isV4),
      port: bytes.readUInt16BE(start + Peer.endpointPort.offset),
    },
    countedBy: bytes.readUInt32LE(start + Peer.countedBy.offset),
    cookie: cookieAt(bytes, start),
    caller: {
      ip: ips.at(bytes, end + SocketEnd.address.offset, isV4),
      port: bytes.readUInt16LE(end + SocketEnd.port.offset),
    },
    state: bytes.readUInt8(end + SocketEnd.state.offset),
  };
}

/** The cookie of the record that begins at an offset. The kernel counts sockets from 1, so a number can hold it. */
export function cookieAt(bytes: Buffer, start: number): number {
  const at = start + PEER_BYTES + SocketEnd.cookie.offset;
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
}

/** The texts of addresses. Sockets share a few of them, and making a text takes longer than all else of a record. */
export class IpTexts {
  readonly #known = new Map<number | string, Ip>();

  at(bytes: Buffer, offset: number, isV4: boolean): Ip {
    const id = isV4 ? bytes.readUInt32BE(offset) : bytes.toString('latin1', offset, offset + 16);
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const ip = ipFromBytes(bytes.subarray(offset, offset + (isV4 ? 4 : 16))) as Ip;
    this.#known.set(id, ip);
    return ip;
  }
}
