import { type Ip, ipFromBytes } from '../../net/index.ts';

/**
 * A cache of the text of addresses. Addresses of flows repeat: a node has far fewer clients and endpoints than flows.
 * The cache makes decoding a dump faster and lets flows share strings. Each address has one slot, and a later address
 * with the same hash replaces it. So the memory is bounded, however many flows the table holds.
 */
const SLOT_BITS = 14;
const SLOTS = 1 << SLOT_BITS;
/** Close to 2³² divided by the golden ratio. Multiplying by it spreads neighbouring numbers over all slots. */
const SPREAD = 0x9e3779b1;
const v4Keys = new Int32Array(SLOTS);
const v4Texts: (Ip | undefined)[] = new Array(SLOTS).fill(undefined);
const v6Keys = new Int32Array(SLOTS * 4);
const v6Texts: (Ip | undefined)[] = new Array(SLOTS).fill(undefined);

/** The IPv4 address at `at`. The caller must have checked that four bytes are there. */
export function readIpv4(bytes: Buffer, at: number): Ip {
  const number = bytes.readInt32BE(at);
  const slot = slotOf(number);
  const known = v4Texts[slot];
  if (known !== undefined && v4Keys[slot] === number) return known;
  const ip = `${number >>> 24}.${(number >>> 16) & 255}.${(number >>> 8) & 255}.${number & 255}` as Ip;
  v4Keys[slot] = number;
  v4Texts[slot] = ip;
  return ip;
}

/** The IPv6 address at `at`. The caller must have checked that sixteen bytes are there. */
export function readIpv6(bytes: Buffer, at: number): Ip | undefined {
  const a = bytes.readInt32BE(at);
  const b = bytes.readInt32BE(at + 4);
  const c = bytes.readInt32BE(at + 8);
  const d = bytes.readInt32BE(at + 12);
  const slot = slotOf(Math.imul(Math.imul(Math.imul(a, SPREAD) + b, SPREAD) + c, SPREAD) + d);
  const key = slot * 4;
  const known = v6Texts[slot];
  const same = v6Keys[key] === a && v6Keys[key + 1] === b && v6Keys[key + 2] === c && v6Keys[key + 3] === d;
  if (known !== undefined && same) return known;
  const ip = ipFromBytes(bytes.subarray(at, at + 16));
  v6Keys[key] = a;
  v6Keys[key + 1] = b;
  v6Keys[key + 2] = c;
  v6Keys[key + 3] = d;
  v6Texts[slot] = ip;
  return ip;
}

function slotOf(number: number): number {
  return Math.imul(number, SPREAD) >>> (32 - SLOT_BITS);
}
