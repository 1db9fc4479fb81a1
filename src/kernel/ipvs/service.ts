import type { Family } from '../../net/index.ts';
import { asString, asU32, asU32BE, attributeMap, type MessageWriter } from '../netlink/index.ts';
import { IpvsAttribute } from './family.ts';
import { decodeKey, encodeKey, keyFamily, printKey, type ServiceKey } from './service-key.ts';
import { decodeStats, type Stats } from './stats.ts';

const Attribute = {
  SCHED_NAME: 6,
  FLAGS: 7,
  TIMEOUT: 8,
  NETMASK: 9,
  STATS: 10,
  PE_NAME: 11,
  STATS64: 12,
} as const;

export const ServiceFlag = { PERSISTENT: 0x1, ONEPACKET: 0x4, SCHED1: 0x8, SCHED2: 0x10, SCHED3: 0x20 } as const;

/** The kernel's own flag for a service in its hash table. It never finds a service that was added with this flag. */
const HASHED = 0x2;
const ALL_FLAGS = 0xffffffff;

/** The names of the scheduler flags, for schedulers that give them a meaning. */
const SCHEDULER_FLAGS: Readonly<Record<string, readonly string[]>> = {
  sh: ['sh-fallback', 'sh-port'],
  mh: ['mh-fallback', 'mh-port'],
};

/** A virtual service. */
export interface Service {
  readonly key: ServiceKey;
  /** `rr`, `lc`, `sh`, … The kernel loads the module `ip_vs_…` if needed. */
  readonly scheduler: string;
  /** Bits of `ServiceFlag`. */
  readonly flags?: number;
  /** How many seconds a client keeps its destination. Has an effect only with the flag PERSISTENT. */
  readonly timeout?: number;
  /**
   * Clients of the same network share a destination. For IPv4 this is a mask (0xffffff00), for IPv6 a prefix length. By
   * default each client is a network of its own.
   */
  readonly netmask?: number;
  readonly persistenceEngine?: string | undefined;
}

/** A virtual service as the kernel lists it. */
export interface ServiceEntry extends Required<Service> {
  readonly stats: Stats | undefined;
}

export function encodeService(writer: MessageWriter, service: Service): void {
  const nest = writer.nest(IpvsAttribute.SERVICE);
  encodeKey(writer, service.key);
  writer.string(Attribute.SCHED_NAME, service.scheduler);
  if (service.persistenceEngine) writer.string(Attribute.PE_NAME, service.persistenceEngine);
  writer.data(Attribute.FLAGS, flagsBytes(service.flags ?? 0)).u32(Attribute.TIMEOUT, service.timeout ?? 0);
  const family = keyFamily(service.key);
  const netmask = service.netmask ?? singleClientMask(family);
  if (family === 'IPv4') writer.u32BE(Attribute.NETMASK, netmask);
  else writer.u32(Attribute.NETMASK, netmask);
  writer.close(nest);
}

/** Decodes the answer to GET_SERVICE; `start` is where its attributes begin. */
export function decodeService(body: Buffer, start = 0): ServiceEntry | undefined {
  const nested = attributeMap(body, start).get(IpvsAttribute.SERVICE);
  if (!nested) return undefined;
  const attributes = attributeMap(nested);
  const key = decodeKey(attributes);
  const scheduler = asString(attributes.get(Attribute.SCHED_NAME));
  if (!key || scheduler === undefined) return undefined;
  const family = keyFamily(key);
  const netmask = attributes.get(Attribute.NETMASK);
  return {
    key,
    scheduler,
    flags: ((asU32(attributes.get(Attribute.FLAGS)) ?? 0) & ~HASHED) >>> 0,
    timeout: asU32(attributes.get(Attribute.TIMEOUT)) ?? 0,
    netmask: (family === 'IPv4' ? asU32BE(netmask) : asU32(netmask)) ?? singleClientMask(family),
    persistenceEngine: asString(attributes.get(Attribute.PE_NAME)) || undefined,
    stats: decodeStats(attributes.get(Attribute.STATS64), attributes.get(Attribute.STATS)),
  };
}

/** `-A -t 10.96.0.1:80 -s rr -p 10800`, as `ipvsadm -S -n` prints it. */
export function printService(verb: '-A' | '-E', service: Service): string {
  const { key, scheduler, flags = 0, timeout = 0, persistenceEngine } = service;
  const words = [verb, printKey(key), '-s', scheduler];
  if (flags & ServiceFlag.PERSISTENT) {
    words.push('-p', `${timeout}`);
    const family = keyFamily(key);
    const netmask = service.netmask ?? singleClientMask(family);
    if (netmask !== singleClientMask(family)) words.push('-M', family === 'IPv4' ? printMask(netmask) : `${netmask}`);
  }
  if (persistenceEngine) words.push('--pe', persistenceEngine);
  if (flags & ServiceFlag.ONEPACKET) words.push('-o');
  const names = schedulerFlags(scheduler, flags);
  if (names) words.push('-b', names);
  return words.join(' ');
}

function singleClientMask(family: Family): number {
  return family === 'IPv4' ? 0xffffffff : 128;
}

function flagsBytes(flags: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE((flags & ~HASHED) >>> 0, 0);
  bytes.writeUInt32LE(ALL_FLAGS, 4);
  return bytes;
}

function schedulerFlags(scheduler: string, flags: number): string {
  const names = SCHEDULER_FLAGS[scheduler] ?? [];
  return [ServiceFlag.SCHED1, ServiceFlag.SCHED2, ServiceFlag.SCHED3]
    .flatMap((flag, index) => (flags & flag ? [names[index] ?? `flag-${index + 1}`] : []))
    .join();
}

function printMask(mask: number): string {
  return [24, 16, 8, 0].map(shift => (mask >>> shift) & 0xff).join('.');
}
