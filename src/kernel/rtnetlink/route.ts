import {
  type Cidr,
  cidrFamily,
  type Family,
  familyOf,
  formatCidr,
  type Ip,
  ipBytes,
  ipFromBytes,
} from '../../net/index.ts';
import { asU32, attributeMap, type MessageWriter } from '../netlink/index.ts';
import { Scope } from './address.ts';
import { addressLength, familyNumber } from './families.ts';
import type { LinkRef } from './link.ts';

export const RouteMessage = { NEW: 24, DEL: 25, GET: 26 } as const;

const Attribute = { DST: 1, OIF: 4, GATEWAY: 5, PRIORITY: 6, PREFSRC: 7, TABLE: 15 } as const;

/** In the order of the kernel's numbers, from 1 on. */
const TYPES = [
  'unicast',
  'local',
  'broadcast',
  'anycast',
  'multicast',
  'blackhole',
  'unreachable',
  'prohibit',
  'throw',
] as const;
export type RouteType = (typeof TYPES)[number];

export const RouteTable = { MAIN: 254, LOCAL: 255 } as const;
const PROTOCOL_BOOT = 3;
const HEADER = 12;
/** RTM_F_LOOKUP_TABLE: the answer has the table in which the kernel found the route. */
const LOOKUP_TABLE = 0x1000;

export interface NewRoute {
  /** `0.0.0.0/0` and `::/0` are the default routes. */
  readonly destination: Cidr;
  /** By default `unicast`. */
  readonly type?: RouteType;
  readonly via?: Ip;
  readonly dev?: LinkRef;
  readonly src?: Ip;
  readonly metric?: number;
  /** By default the local table for the type `local`, and the main table for others. */
  readonly table?: number;
}

export interface Route {
  readonly type: RouteType;
  readonly destination: Cidr;
  readonly via: Ip | undefined;
  /** The index of the link. */
  readonly dev: number | undefined;
  readonly src: Ip | undefined;
  readonly metric: number | undefined;
  readonly table: number;
  readonly protocol: number;
  readonly scope: number;
}

export interface RouteFilter {
  readonly family: Family;
  readonly table?: number;
}

type Verb = 'add' | 'replace' | 'del';

export function encodeRoute(writer: MessageWriter, verb: Verb, route: NewRoute): void {
  const { destination, via, dev, src, metric } = route;
  const table = tableOf(route);
  writer.struct(routeHeader(verb, route, table));
  if (destination.prefix > 0) writer.data(Attribute.DST, ipBytes(destination.address));
  if (via !== undefined) writer.data(Attribute.GATEWAY, ipBytes(via));
  if (src !== undefined) writer.data(Attribute.PREFSRC, ipBytes(src));
  if (metric !== undefined) writer.u32(Attribute.PRIORITY, metric);
  if (table > 255) writer.u32(Attribute.TABLE, table);
  if (dev !== undefined) writer.u32(Attribute.OIF, dev.index);
}

export function encodeGetRoutes(writer: MessageWriter, { family, table }: RouteFilter): void {
  const header = Buffer.alloc(HEADER);
  header[0] = familyNumber(family);
  writer.struct(header);
  if (table !== undefined) writer.u32(Attribute.TABLE, table);
}

/** Asks which route the kernel takes to one address. */
export function encodeLookUpRoute(writer: MessageWriter, destination: Ip): void {
  const bytes = ipBytes(destination);
  const header = Buffer.alloc(HEADER);
  header[0] = familyNumber(familyOf(destination));
  header[1] = bytes.length * 8;
  // For IPv6 the kernel always returns the table.
  if (bytes.length === 4) header.writeUInt32LE(LOOKUP_TABLE, 8);
  writer.struct(header).data(Attribute.DST, bytes);
}

/** Decodes RTM_NEWROUTE and RTM_DELROUTE. Returns undefined if the family or the type is not supported here. */
export function decodeRoute(body: Buffer): Route | undefined {
  const length = addressLength(body[0]);
  if (body.length < HEADER || !length) return undefined;
  const type = TYPES[body.readUInt8(7) - 1];
  const attributes = attributeMap(body, HEADER);
  const ip = (attribute: number) => {
    const bytes = attributes.get(attribute);
    return bytes?.length === length ? ipFromBytes(bytes) : undefined;
  };
  const address = ip(Attribute.DST) ?? ipFromBytes(Buffer.alloc(length));
  if (!type || !address) return undefined;
  return {
    type,
    destination: { address, prefix: body.readUInt8(1) },
    via: ip(Attribute.GATEWAY),
    dev: asU32(attributes.get(Attribute.OIF)),
    src: ip(Attribute.PREFSRC),
    metric: asU32(attributes.get(Attribute.PRIORITY)),
    table: asU32(attributes.get(Attribute.TABLE)) ?? body.readUInt8(4),
    protocol: body.readUInt8(5),
    scope: body.readUInt8(6),
  };
}

export function printRoute(verb: Verb, route: NewRoute): string {
  const { destination, type = 'unicast', via, dev, src, metric, table } = route;
  const ip = cidrFamily(destination) === 'IPv4' ? 'ip' : 'ip -6';
  const words = [ip, 'route', verb];
  if (type !== 'unicast') words.push(type);
  words.push(destination.prefix === 0 ? 'default' : formatCidr(destination));
  if (via !== undefined) words.push('via', via);
  if (dev !== undefined) words.push('dev', dev.name);
  if (src !== undefined) words.push('src', src);
  if (metric !== undefined) words.push('metric', `${metric}`);
  if (table !== undefined) words.push('table', `${table}`);
  return words.join(' ');
}

export function printGetRoutes({ family, table }: RouteFilter): string {
  return `ip -${family.slice(-1)} route show${table === undefined ? '' : ` table ${table}`}`;
}

export function printLookUpRoute(destination: Ip): string {
  return `ip -${familyOf(destination).slice(-1)} route get ${destination}`;
}

/** `struct rtmsg`. */
function routeHeader(verb: Verb, route: NewRoute, table: number): Buffer {
  const header = Buffer.alloc(HEADER);
  header[0] = familyNumber(cidrFamily(route.destination));
  header[1] = route.destination.prefix;
  header[4] = table > 255 ? 0 : table;
  header[5] = verb === 'del' ? 0 : PROTOCOL_BOOT;
  header[6] = scopeOf(verb, route);
  // A delete without a type matches a route of any type.
  header[7] = verb === 'del' && !route.type ? 0 : TYPES.indexOf(route.type ?? 'unicast') + 1;
  return header;
}

function tableOf({ table, type }: NewRoute): number {
  return table ?? (type === 'local' ? RouteTable.LOCAL : RouteTable.MAIN);
}

/**
 * The scope says how far away the destination is. IPv6 routes have no scope. For IPv4 the kernel refuses a
 * gateway that is not nearer than the destination.
 */
function scopeOf(verb: Verb, { destination, type = 'unicast', via }: NewRoute): number {
  if (cidrFamily(destination) === 'IPv6') return Scope.GLOBAL;
  if (type === 'local') return Scope.HOST;
  if (type === 'broadcast' || type === 'multicast' || type === 'anycast') return Scope.LINK;
  if (verb === 'del') return Scope.NOWHERE;
  return type === 'unicast' && via === undefined ? Scope.LINK : Scope.GLOBAL;
}
