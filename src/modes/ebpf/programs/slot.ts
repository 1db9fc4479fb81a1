import { bytesOf } from '../../../kernel/bpf/index.ts';
import { type Family, familyOf, writeIp } from '../../../net/index.ts';
import { type Endpoint, encoded, familyOfLength, readIp, writePort } from './bytes.ts';
import { Slot4, Slot6 } from './layout.ts';

// The value of `slots4` and `slots6`: an endpoint. The same bytes are the key of `active4` and `active6`.

const SLOTS = { IPv4: Slot4, IPv6: Slot6 } as const;

export const SLOT_BYTES: Readonly<Record<Family, number>> = { IPv4: bytesOf(Slot4), IPv6: bytesOf(Slot6) };

export function encodeSlot(endpoint: Endpoint): Buffer {
  return encoded(SLOT_BYTES[familyOf(endpoint.ip)], (into, at) => writeSlot(endpoint, into, at));
}

/** Writes a slot into bytes that are zero, or that held a slot of the same family. */
export function writeSlot({ ip, port }: Endpoint, into: Uint8Array, at: number): void {
  const slot = writeIp(ip, into, at) === 4 ? Slot4 : Slot6;
  writePort(into, at, slot.port, port);
}

export function decodeSlot(bytes: Buffer): Endpoint {
  const family = familyOfLength(bytes.length, SLOTS);
  return { ip: readIp(bytes, 0, family), port: bytes.readUInt16BE(SLOTS[family].port.offset) };
}
