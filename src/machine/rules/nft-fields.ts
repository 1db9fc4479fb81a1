import type { Expression } from '../../kernel/nftables/index.ts';
import { type Ip, ipBytes } from '../../net/index.ts';
import { isKnown, type KnownBytes, knownBytes, knownNumber, unknownBytes } from './known-bytes.ts';
import type { PacketView } from './packet-view.ts';
import type { Interface } from './routing.ts';

type Kind<K extends Expression['kind']> = Extract<Expression, { kind: K }>;

/** What an expression loads. `none` if the packet lacks it: then the rule does not match. */
export type Loaded = KnownBytes | 'none';

export const PROTOCOL_NUMBERS = { TCP: 6, UDP: 17, SCTP: 132 } as const;
const ETHER_TYPES = { IPv4: 0x0800, IPv6: 0x86dd } as const;
const NF_PROTOS = { IPv4: 2, IPv6: 10 } as const;
const IFNAME_BYTES = 16;
const HEADER_BYTES = 64;

export function loadPayload(view: PacketView, { base, offset, len }: Kind<'payload'>): Loaded {
  switch (base) {
    case 'network':
      return part(networkHeader(view), offset, len, isSource(view, offset) ? 'source address' : 'header fields');
    case 'transport':
      return part(transportHeader(view), offset, len, offset < 2 ? 'source port' : 'header fields');
    case 'link':
      return unknownBytes(len, 'link layer addresses');
    case 'inner':
      return unknownBytes(len, 'payload');
  }
}

function isSource({ family }: PacketView, offset: number): boolean {
  return family === 'IPv4' ? offset >= 12 && offset < 16 : offset >= 8 && offset < 24;
}

/** A header of which some bytes are known. */
class Header {
  readonly bytes = Buffer.alloc(HEADER_BYTES);
  readonly known = Buffer.alloc(HEADER_BYTES);

  put(at: number, bytes: ArrayLike<number>): this {
    this.bytes.set(bytes, at);
    this.known.fill(0xff, at, at + bytes.length);
    return this;
  }
}

function part({ bytes, known }: Header, offset: number, length: number, reason: string): KnownBytes {
  const value = {
    bytes: Buffer.from(bytes.subarray(offset, offset + length)),
    known: Buffer.from(known.subarray(offset, offset + length)),
    unknown: [reason],
  };
  if (value.bytes.length < length) return unknownBytes(length, reason);
  return isKnown(value) ? { ...value, unknown: [] } : value;
}

function networkHeader({ family, protocol, source, destination }: PacketView): Header {
  const header = new Header();
  const v4 = family === 'IPv4';
  header.put(v4 ? 9 : 6, [PROTOCOL_NUMBERS[protocol]]).put(v4 ? 16 : 24, ipBytes(destination));
  if (v4) header.put(0, [0x45]);
  // The first packet of a connection is no fragment.
  if (v4) header.put(7, [0]);
  return source === undefined ? header : header.put(v4 ? 12 : 8, ipBytes(source));
}

function transportHeader({ protocol, port }: PacketView): Header {
  const header = new Header().put(2, [port >> 8, port & 0xff]);
  const SYN = 2;
  return protocol === 'TCP' ? header.put(13, [SYN]) : header;
}

export function loadMeta(view: PacketView, { key }: Kind<'meta'>): Loaded {
  switch (key) {
    case 'protocol': {
      const type = ETHER_TYPES[view.family];
      return knownBytes(Buffer.from([type >> 8, type & 0xff]));
    }
    case 'nfproto':
      return knownNumber(NF_PROTOS[view.family], 1);
    case 'l4proto':
      return knownNumber(PROTOCOL_NUMBERS[view.protocol], 1);
    case 'iif':
    case 'iifname':
      return loadInterface(view.input, key === 'iifname', 'input interface');
    case 'oif':
    case 'oifname':
      return loadInterface(view.output, key === 'oifname', 'output interface');
    case 'iiftype':
    case 'iifgroup':
    case 'iifkind':
    case 'bri_iifname':
    case 'sdif':
    case 'sdifname':
      return unknownBytes(IFNAME_BYTES, 'input interface');
    case 'oiftype':
    case 'oifgroup':
    case 'oifkind':
    case 'bri_oifname':
      return unknownBytes(IFNAME_BYTES, 'output interface');
    case 'skuid':
    case 'skgid':
    case 'cgroup':
      return view.isFromNode ? unknownBytes(4, 'process that sends the packet') : 'none';
    case 'pkttype':
      return view.isFromNode ? unknownBytes(1, 'packet type') : knownNumber(0, 1);
    case 'mark':
      return markBytes(view);
    case 'time':
    case 'day':
    case 'hour':
      return unknownBytes(8, 'time');
    default:
      return unknownBytes(IFNAME_BYTES, `meta ${key}`);
  }
}

function loadInterface(link: Interface | 'none' | 'unknown', isName: boolean, reason: string): Loaded {
  if (link === 'unknown') return unknownBytes(isName ? IFNAME_BYTES : 4, reason);
  if (!isName) return knownNumber(link === 'none' ? 0 : link.index);
  const bytes = Buffer.alloc(IFNAME_BYTES);
  if (link !== 'none') bytes.write(link.name);
  return knownBytes(bytes);
}

/** `enum ip_conntrack_status` */
const STATUS_DST_NAT = 1 << 5;
const STATUS_EXPECTED = 1 << 0;
const STATUS_SEEN_REPLY = 1 << 1;
const STATUS_ASSURED = 1 << 2;
/** `ct state` */
const STATE_INVALID = 1;
const STATE_NEW = 8;

export function loadConnection(view: PacketView, { key, dir }: Kind<'ct'>): Loaded {
  if (key === 'state') return knownNumber(view.isTracked ? STATE_NEW : STATE_INVALID);
  if (!view.isTracked) return 'none';
  switch (key) {
    case 'direction':
      return knownNumber(0, 1);
    case 'status': {
      // The first packet of a connection has seen no reply, and is expected by no helper as far as we know.
      const bits = STATUS_DST_NAT | STATUS_EXPECTED | STATUS_SEEN_REPLY | STATUS_ASSURED;
      const status = unknownBytes(4, 'connection status');
      status.known.writeUInt32LE(bits, 0);
      status.bytes.writeUInt32LE(view.isTranslated ? STATUS_DST_NAT : 0, 0);
      return status;
    }
    case 'protocol':
      return knownNumber(PROTOCOL_NUMBERS[view.protocol], 1);
    case 'l3protocol':
      return knownNumber(NF_PROTOS[view.family], 1);
    case 'dst':
    case 'dst_ip':
    case 'dst_ip6':
      return dir === 'reply' ? unknownBytes(IFNAME_BYTES, 'reply address') : address(view.original.ip);
    case 'src':
    case 'src_ip':
    case 'src_ip6':
      if (dir !== 'reply' && view.source !== undefined) return address(view.source);
      return unknownBytes(IFNAME_BYTES, 'source address');
    case 'proto_dst':
      if (dir === 'reply') return unknownBytes(2, 'source port');
      return knownBytes(Buffer.from([view.original.port >> 8, view.original.port & 0xff]));
    case 'mark':
      return unknownBytes(4, 'connection mark');
    default:
      return unknownBytes(IFNAME_BYTES, `ct ${key}`);
  }
}

function address(ip: Ip): KnownBytes {
  return knownBytes(ipBytes(ip));
}

/** RTN_*, from 1 on. */
const ROUTE_TYPES = ['unicast', 'local', 'broadcast', 'anycast', 'multicast', 'blackhole', 'unreachable', 'prohibit'];

export function loadFib(view: PacketView, { selectors, result }: Kind<'fib'>): Loaded {
  if (result !== 'type') return unknownBytes(IFNAME_BYTES, 'route');
  if (selectors.includes('daddr')) {
    const { destinationType } = view;
    if (destinationType !== undefined) return knownNumber(ROUTE_TYPES.indexOf(destinationType) + 1);
    return unknownBytes(4, 'route');
  }
  return view.isFromNode
    ? knownNumber(ROUTE_TYPES.indexOf('local') + 1)
    : unknownBytes(4, 'type of the source address');
}

export function shiftBytes(value: KnownBytes, { op, len, bits }: Kind<'shift'>): KnownBytes {
  if (!isKnown(value) || len !== 4) return unknownBytes(len, value.unknown[0] ?? 'computed value');
  const number = value.bytes.readUInt32LE(0);
  return knownNumber((op === 'lshift' ? number << bits : number >>> bits) >>> 0);
}

/** Reverses the bytes of each number. */
export function swapBytes({ bytes, known, unknown }: KnownBytes, size: number): KnownBytes {
  const swap = (from: Buffer) => {
    const to = Buffer.alloc(from.length);
    for (let i = 0; i < from.length; i++) to[i] = from[i - (i % size) + (size - 1 - (i % size))] ?? 0;
    return to;
  };
  return { bytes: swap(bytes), known: swap(known), unknown };
}

function markBytes({ mark: { mask, value } = { mask: 0, value: 0 } }: PacketView): KnownBytes {
  return { bytes: knownNumber(value).bytes, known: knownNumber(mask).bytes, unknown: ['packet mark'] };
}
