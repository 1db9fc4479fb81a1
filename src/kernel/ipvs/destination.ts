import { type Family, familyOf, type Ip, joinHostPort } from '../../net/index.ts';
import { asU16, asU16BE, asU32, attributeMap, type MessageWriter } from '../netlink/index.ts';
import { addressBytes, addressFromBytes, familyFromNumber, familyNumber, IpvsAttribute } from './family.ts';
import { printKey, type ServiceKey } from './service-key.ts';
import { decodeStats, type Stats } from './stats.ts';

const Attribute = {
  ADDRESS: 1,
  PORT: 2,
  FWD_METHOD: 3,
  WEIGHT: 4,
  U_THRESH: 5,
  L_THRESH: 6,
  ACTIVE_CONNS: 7,
  INACT_CONNS: 8,
  PERSIST_CONNS: 9,
  STATS: 10,
  ADDR_FAMILY: 11,
  STATS64: 12,
} as const;

/** The methods by which packets reach a destination, in the order of the kernel's numbers. */
const FORWARDS = ['masq', 'local', 'tunnel', 'route', 'bypass'] as const;
export type Forward = (typeof FORWARDS)[number];
const FORWARD_MASK = 7;

/** Identifies a destination (a real server) of a service. */
export interface DestinationKey {
  readonly address: Ip;
  readonly port: number;
}

export interface Destination extends DestinationKey {
  /** By default `masq`. */
  readonly forward?: Forward;
  /** By default 1. With 0 the destination receives no new connections. */
  readonly weight?: number;
  /** At this many connections it receives no new ones until it has fewer than `lowerThreshold`. 0 means no limit. */
  readonly upperThreshold?: number;
  readonly lowerThreshold?: number;
}

/** A destination as the kernel lists it. */
export interface DestinationEntry extends Required<Destination> {
  readonly activeConnections: number;
  readonly inactiveConnections: number;
  readonly persistentConnections: number;
  readonly stats: Stats | undefined;
}

export function encodeDestination(writer: MessageWriter, destination: Destination): void {
  const nest = writer.nest(IpvsAttribute.DEST);
  encodeAddress(writer, destination);
  writer.u32(Attribute.FWD_METHOD, FORWARDS.indexOf(destination.forward ?? 'masq'));
  writer.u32(Attribute.WEIGHT, destination.weight ?? 1);
  writer.u32(Attribute.U_THRESH, destination.upperThreshold ?? 0);
  writer.u32(Attribute.L_THRESH, destination.lowerThreshold ?? 0).close(nest);
}

/** Writes only the key of a destination, as a delete needs it. */
export function encodeDestinationKey(writer: MessageWriter, destination: DestinationKey): void {
  const nest = writer.nest(IpvsAttribute.DEST);
  encodeAddress(writer, destination);
  writer.close(nest);
}

/**
 * Decodes an answer to GET_DEST; `start` is where its attributes begin. Kernels before 3.18 do not send the family of a
 * destination. There it is always the family of the service, `serviceFamily`.
 */
export function decodeDestination(body: Buffer, start = 0, serviceFamily?: Family): DestinationEntry | undefined {
  const nested = attributeMap(body, start).get(IpvsAttribute.DEST);
  if (!nested) return undefined;
  const attributes = attributeMap(nested);
  const number = (type: number) => asU32(attributes.get(type)) ?? 0;
  const ownFamily = attributes.get(Attribute.ADDR_FAMILY);
  const family = ownFamily ? familyFromNumber(asU16(ownFamily)) : serviceFamily;
  const address = family && addressFromBytes(family, attributes.get(Attribute.ADDRESS));
  const port = asU16BE(attributes.get(Attribute.PORT));
  const forward = FORWARDS[number(Attribute.FWD_METHOD) & FORWARD_MASK];
  if (!address || port === undefined || !forward) return undefined;
  return {
    address,
    port,
    forward,
    weight: number(Attribute.WEIGHT),
    upperThreshold: number(Attribute.U_THRESH),
    lowerThreshold: number(Attribute.L_THRESH),
    activeConnections: number(Attribute.ACTIVE_CONNS),
    inactiveConnections: number(Attribute.INACT_CONNS),
    persistentConnections: number(Attribute.PERSIST_CONNS),
    stats: decodeStats(attributes.get(Attribute.STATS64), attributes.get(Attribute.STATS)),
  };
}

const OPTIONS = { masq: '-m', tunnel: '-i', route: '-g', local: '-g', bypass: '-g' } as const;

/**
 * `-a -t 10.96.0.1:80 -r 10.244.1.2:8080 -m -w 1`, as `ipvsadm -S -n` prints it, but with the thresholds, which ipvsadm
 * leaves out.
 */
export function printDestination(verb: '-a' | '-e', service: ServiceKey, destination: Destination): string {
  const { forward = 'masq', weight = 1, upperThreshold = 0, lowerThreshold = 0 } = destination;
  const words = [verb, printKey(service), '-r', printDestinationKey(destination), OPTIONS[forward], '-w', `${weight}`];
  if (upperThreshold > 0) words.push('-x', `${upperThreshold}`);
  if (lowerThreshold > 0) words.push('-y', `${lowerThreshold}`);
  return words.join(' ');
}

export function printDestinationKey({ address, port }: DestinationKey): string {
  return joinHostPort(address, port);
}

function encodeAddress(writer: MessageWriter, { address, port }: DestinationKey): void {
  writer.u16(Attribute.ADDR_FAMILY, familyNumber(familyOf(address)));
  writer.data(Attribute.ADDRESS, addressBytes(address)).u16BE(Attribute.PORT, port);
}
