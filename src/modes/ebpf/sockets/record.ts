import { bytesOf, type Field, struct, u8, u16, u32, u64 } from '../../../kernel/bpf/index.ts';
import { type Ip, ipFromBytes, writeIp } from '../../../net/index.ts';
import type { SocketAddress } from '../../mode.ts';
import { Peer } from '../programs/layout.ts';

/** What the iterator adds to the record of a socket. The address is in network byte order, the port is not. */
export const SocketEnd = struct({
  /** The kernel's number of the socket. No other socket of this machine has it. */
  cookie: u64,
  /** A state of TCP, as in `linux/tcp_states.h`. */
  state: u8,
  zero: u8,
  port: u16,
  rest: u32,
  address: [u32, 4],
});

const PEER_BYTES = bytesOf(Peer);
export const RECORD_BYTES: number = PEER_BYTES + bytesOf(SocketEnd);

/** One socket, as the iterator writes it. */
export interface SocketRecord {
  readonly cookie: bigint;
  /** The cookie of the network namespace. */
  readonly namespace: bigint;
  readonly service: SocketAddress;
  readonly endpoint: SocketAddress;
  readonly caller: SocketAddress;
  readonly state: number;
}

/** Only the program in the kernel writes records. This is for tests. */
export function encodeRecord({ cookie, namespace, service, endpoint, caller, state }: SocketRecord): Buffer {
  const bytes = Buffer.alloc(RECORD_BYTES);
  const at = ({ offset }: Field) => PEER_BYTES + offset;
  bytes.writeUInt32LE(service.ip.includes(':') ? 6 : 4, Peer.state.offset);
  bytes.writeBigUInt64LE(namespace, Peer.namespace.offset);
  bytes.writeUInt16BE(service.port, Peer.servicePort.offset);
  bytes.writeUInt16BE(endpoint.port, Peer.endpointPort.offset);
  writeIp(service.ip, bytes, Peer.service.offset);
  writeIp(endpoint.ip, bytes, Peer.endpoint.offset);
  bytes.writeBigUInt64LE(cookie, at(SocketEnd.cookie));
  bytes.writeUInt8(state, at(SocketEnd.state));
  bytes.writeUInt16LE(caller.port, at(SocketEnd.port));
  writeIp(caller.ip, bytes, at(SocketEnd.address));
  return bytes;
}

/** Reads the record that begins at an offset. */
export function decodeRecord(bytes: Buffer, start: number): SocketRecord {
  const ipLength = bytes.readUInt32LE(start + Peer.state.offset) === 6 ? 16 : 4;
  const ipAt = (offset: number) => ipFromBytes(bytes.subarray(start + offset, start + offset + ipLength)) as Ip;
  const end = start + PEER_BYTES;
  return {
    cookie: bytes.readBigUInt64LE(end + SocketEnd.cookie.offset),
    namespace: bytes.readBigUInt64LE(start + Peer.namespace.offset),
    service: { ip: ipAt(Peer.service.offset), port: bytes.readUInt16BE(start + Peer.servicePort.offset) },
    endpoint: { ip: ipAt(Peer.endpoint.offset), port: bytes.readUInt16BE(start + Peer.endpointPort.offset) },
    caller: { ip: ipAt(PEER_BYTES + SocketEnd.address.offset), port: bytes.readUInt16LE(end + SocketEnd.port.offset) },
    state: bytes.readUInt8(end + SocketEnd.state.offset),
  };
}
