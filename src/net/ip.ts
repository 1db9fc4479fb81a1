/**
 * An IP address as text in canonical form: a dotted quad without leading zeros, or RFC 5952 for IPv6. Two addresses are
 * equal exactly if their texts are. An IPv4-mapped IPv6 address counts as IPv4.
 */
export type Ip = string & { readonly ip: unique symbol };

export type Family = 'IPv4' | 'IPv6';

export const FAMILIES: readonly Family[] = ['IPv4', 'IPv6'];

/** The wildcard that means all addresses of a machine. */
export const ANY_IP: Readonly<Record<Family, Ip>> = { IPv4: '0.0.0.0' as Ip, IPv6: '::' as Ip };

export function familyOf(ip: Ip): Family {
  return ip.includes(':') ? 'IPv6' : 'IPv4';
}

export function otherFamily(family: Family): Family {
  return family === 'IPv6' ? 'IPv4' : 'IPv6';
}

/**
 * Parses an address as Go's ParseIPSloppy does. Leading zeros are allowed and decimal (`010.0.0.1` is 10.0.0.1). Zone
 * ids and blanks are not allowed. Returns undefined if the text is not an address.
 */
export function parseIp(text: string): Ip | undefined {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === DOT) return parseV4(text);
    if (code === COLON) return parseV6(text);
  }
  return undefined;
}

/** The 4 or 16 bytes of an address. */
export function ipBytes(ip: Ip): Buffer {
  const bytes = Buffer.allocUnsafe(familyOf(ip) === 'IPv4' ? 4 : 16);
  writeIp(ip, bytes, 0);
  return bytes;
}

/** Writes the bytes of an address. Returns their number. */
export function writeIp(ip: Ip, into: Uint8Array, at: number): 4 | 16 {
  const v4 = readV4(ip, 0);
  if (v4 >= 0) {
    into[at] = v4 / 0x1000000;
    into[at + 1] = v4 >>> 16;
    into[at + 2] = v4 >>> 8;
    into[at + 3] = v4;
    return 4;
  }
  const groups = readGroups(ip);
  if (!groups) throw new TypeError(`not an address: ${ip}`);
  for (let i = 0; i < 8; i++) {
    into[at + 2 * i] = (groups[i] ?? 0) >>> 8;
    into[at + 2 * i + 1] = groups[i] ?? 0;
  }
  return 16;
}

/** An IPv4 address as a number. Undefined for IPv6. */
export function ipv4Number(ip: Ip): number | undefined {
  const number = readV4(ip, 0);
  return number < 0 ? undefined : number;
}

/** The address in 4 or 16 bytes. Undefined for other lengths. */
export function ipFromBytes(bytes: Uint8Array): Ip | undefined {
  if (bytes.length === 4) return bytes.join('.') as Ip;
  if (bytes.length !== 16) return undefined;
  const groups = new Uint16Array(8);
  for (let i = 0; i < 8; i++) groups[i] = ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0);
  return formatGroups(groups);
}

export function isLoopback(ip: Ip): boolean {
  return ip.startsWith('127.') || ip === '::1';
}

/** Whether it is an IPv6 address that the kernel itself gives to every link. */
export function isLinkLocal(ip: Ip): boolean {
  return /^fe[89ab]/.test(ip);
}

export function isUnspecified(ip: Ip): boolean {
  return ip === '0.0.0.0' || ip === '::';
}

/** `10.0.0.1:80`, `[fd00::1]:80`. */
export function joinHostPort(host: string, port: number | string): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const DOT = 0x2e;
const COLON = 0x3a;
/** Go's scanner refuses numbers from this one on. */
const TOO_BIG = 0xffffff;

function parseV4(text: string): Ip | undefined {
  const value = readV4(text, 0);
  if (value < 0) return undefined;
  const canonical = `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
  return (canonical === text ? text : canonical) as Ip;
}

/** The number of the dotted quad from `start` to the end of the text, or -1 if there is none. */
function readV4(text: string, start: number): number {
  let value = 0;
  let at = start;
  for (let part = 0; part < 4; part++) {
    if (part > 0 && text.charCodeAt(at++) !== DOT) return -1;
    const first = at;
    let octet = 0;
    for (; at < text.length; at++) {
      const digit = text.charCodeAt(at) - 0x30;
      if (digit < 0 || digit > 9) break;
      octet = octet * 10 + digit;
      if (octet > 255) return -1;
    }
    if (at === first) return -1;
    value = value * 256 + octet;
  }
  return at === text.length ? value : -1;
}

function parseV6(text: string): Ip | undefined {
  const groups = readGroups(text);
  if (!groups) return undefined;
  const mapped = groups[5] === 0xffff && groups.subarray(0, 5).every(group => group === 0);
  if (mapped) {
    const [high = 0, low = 0] = groups.subarray(6);
    return `${high >>> 8}.${high & 255}.${low >>> 8}.${low & 255}` as Ip;
  }
  const canonical = formatGroups(groups);
  return canonical === text ? (text as Ip) : canonical;
}

/** The eight groups of an IPv6 address. Undefined if the text is not one. */
function readGroups(text: string): Uint16Array | undefined {
  const groups = new Uint16Array(8);
  let count = 0;
  let ellipsis = -1;
  let at = 0;
  if (text.startsWith('::')) {
    ellipsis = 0;
    at = 2;
  }
  while (at < text.length) {
    if (count === 8) return undefined;
    const end = hexEnd(text, at);
    if (end === at) return undefined;
    if (text.charCodeAt(end) === DOT) {
      // A dotted quad may stand for the last two groups.
      const v4 = count <= 6 && (ellipsis >= 0 || count === 6) ? readV4(text, at) : -1;
      if (v4 < 0) return undefined;
      groups[count++] = v4 / 0x10000;
      groups[count++] = v4;
      at = text.length;
      break;
    }
    const value = Number.parseInt(text.slice(at, end), 16);
    if (value >= TOO_BIG || value > 0xffff) return undefined;
    groups[count++] = value;
    at = end;
    if (at === text.length) break;
    if (text.charCodeAt(at) !== COLON || at + 1 === text.length) return undefined;
    at++;
    if (text.charCodeAt(at) === COLON) {
      if (ellipsis >= 0) return undefined;
      ellipsis = count;
      at++;
    }
  }
  if (count === 8) return ellipsis < 0 ? groups : undefined;
  if (ellipsis < 0) return undefined;
  groups.copyWithin(8 - (count - ellipsis), ellipsis, count);
  groups.fill(0, ellipsis, 8 - (count - ellipsis));
  return groups;
}

function hexEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length && isHex(text.charCodeAt(at))) at++;
  return at;
}

function isHex(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}

function formatGroups(groups: Uint16Array): Ip {
  const { start, length } = longestZeroRun(groups);
  const hex = (from: number, to: number) =>
    Array.from(groups.subarray(from, to), group => group.toString(16)).join(':');
  if (length < 2) return hex(0, 8) as Ip;
  return `${hex(0, start)}::${hex(start + length, 8)}` as Ip;
}

function longestZeroRun(groups: Uint16Array): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < 8; start++) {
    let end = start;
    while (end < 8 && groups[end] === 0) end++;
    if (end - start > best.length) best = { start, length: end - start };
    start = Math.max(start, end - 1);
  }
  return best;
}
