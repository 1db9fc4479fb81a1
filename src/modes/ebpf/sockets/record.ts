import { bytesOf, struct, u8, u16, u32, u64 } from '../../../kernel/bpf/index.ts';
import { familyOf, type Ip, ipFromBytes, writeIp } from '../../../net/index.ts';
import type { SocketAddress } from '../../mode.ts';
import { decodePeer, encodePeer, PEER_BYTES, type PeerValue } from '../programs/index.ts';

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
  readonly cookie: bigint;
  /** The address of the socket itself. */
  readonly caller: SocketAddress;
  readonly state: number;
}

/** Only the program in the kernel writes records. This is for tests. */
export function encodeRecord(record: SocketRecord): Buffer {
  const { cookie, caller, state } = record;
  const end = Buffer.alloc(bytesOf(SocketEnd));
  end.writeBigUInt64LE(cookie, SocketEnd.cookie.offset);
  end.writeUInt8(state, SocketEnd.state.offset);
  end.writeUInt16LE(caller.port, SocketEnd.port.offset);
  writeIp(caller.ip, end, SocketEnd.address.offset);
  return Buffer.concat([encodePeer(record), end]);
}

/** Reads the record that begins at an offset. Undefined if the socket forgot its Service while the iterator wrote it. */
export function decodeRecord(bytes: Buffer, start: number): SocketRecord | undefined {
  const peer = decodePeer(bytes.subarray(start, start + PEER_BYTES));
  if (!peer) return undefined;
  const end = bytes.subarray(start + PEER_BYTES, start + RECORD_BYTES);
  const length = familyOf(peer.endpoint.ip) === 'IPv6' ? 16 : 4;
  const { offset } = SocketEnd.address;
  return {
    ...peer,
    cookie: cookieAt(bytes, start),
    caller: {
      ip: ipFromBytes(end.subarray(offset, offset + length)) as Ip,
      port: end.readUInt16LE(SocketEnd.port.offset),
    },
    state: end.readUInt8(SocketEnd.state.offset),
  };
}

/** The cookie of the record that begins at an offset. */
export function cookieAt(bytes: Buffer, start: number): bigint {
  return bytes.readBigUInt64LE(start + PEER_BYTES + SocketEnd.cookie.offset);
}
