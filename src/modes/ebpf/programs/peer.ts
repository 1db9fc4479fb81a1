import { bytesOf } from '../../../kernel/bpf/index.ts';
import { type Family, familyOf, writeIp } from '../../../net/index.ts';
import { type Endpoint, encoded, readIp, writePort } from './bytes.ts';
import { Peer } from './layout.ts';

/** The value of `peers`: what a socket remembers of the Service that it was connected to. */
export interface PeerValue {
  /** The cookie of the socket's network namespace. */
  readonly namespace: bigint;
  /** The frontend that the process named. */
  readonly service: Endpoint;
  readonly endpoint: Endpoint;
  /** The id of the map `active4` if that map, or `active6` beside it, counts this socket. 0: none does. */
  readonly countedBy: number;
}

/** The field `state`. */
export const PEER_STATE: Readonly<Record<Family, number>> = { IPv4: 4, IPv6: 6 };

export const PEER_BYTES = bytesOf(Peer);

export function encodePeer({ namespace, service, endpoint, countedBy }: PeerValue): Buffer {
  return encoded(PEER_BYTES, into => {
    into.writeUInt32LE(PEER_STATE[familyOf(service.ip)], Peer.state.offset);
    into.writeBigUInt64LE(namespace, Peer.namespace.offset);
    writePort(into, 0, Peer.servicePort, service.port);
    writePort(into, 0, Peer.endpointPort, endpoint.port);
    into.writeUInt32LE(countedBy, Peer.countedBy.offset);
    writeIp(service.ip, into, Peer.service.offset);
    writeIp(endpoint.ip, into, Peer.endpoint.offset);
  });
}

/** Undefined if the socket is not connected to a Service now. */
export function decodePeer(bytes: Buffer): PeerValue | undefined {
  const family = familyOfState(bytes.readUInt32LE(Peer.state.offset));
  if (family === undefined) return undefined;
  const place = (address: number, port: number): Endpoint => ({
    ip: readIp(bytes, address, family),
    port: bytes.readUInt16BE(port),
  });
  return {
    namespace: bytes.readBigUInt64LE(Peer.namespace.offset),
    service: place(Peer.service.offset, Peer.servicePort.offset),
    endpoint: place(Peer.endpoint.offset, Peer.endpointPort.offset),
    countedBy: bytes.readUInt32LE(Peer.countedBy.offset),
  };
}

function familyOfState(state: number): Family | undefined {
  if (state === PEER_STATE.IPv4) return 'IPv4';
  return state === PEER_STATE.IPv6 ? 'IPv6' : undefined;
}
