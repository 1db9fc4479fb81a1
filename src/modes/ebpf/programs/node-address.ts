import { type Ip, ipBytes, ipFromBytes } from '../../../net/index.ts';
import { encoded } from './bytes.ts';
import { NodeAddress } from './layout.ts';

// The key and the value of `nodeAddresses4` and `nodeAddresses6`: the addresses at which the node has node ports.

export type NodeAddressKind = keyof typeof NodeAddress;

export function nodeAddressKey(ip: Ip): Buffer {
  return ipBytes(ip);
}

export function decodeNodeAddressKey(bytes: Buffer): Ip {
  const ip = ipFromBytes(bytes);
  if (ip === undefined) throw new RangeError(`an address of ${bytes.length} bytes`);
  return ip;
}

export function encodeNodeAddress(kind: NodeAddressKind): Buffer {
  return encoded(4, into => into.writeUInt32LE(NodeAddress[kind]));
}

export function decodeNodeAddress(bytes: Buffer): NodeAddressKind {
  return bytes.readUInt32LE(0) === NodeAddress.loopback ? 'loopback' : 'any';
}
