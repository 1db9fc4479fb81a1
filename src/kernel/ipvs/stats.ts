import { asU32, asU64, attributeMap } from '../netlink/index.ts';

/** The kernel's counters of a service or a destination. */
export interface Stats {
  readonly connections: bigint;
  readonly inPackets: bigint;
  readonly outPackets: bigint;
  readonly inBytes: bigint;
  readonly outBytes: bigint;
  readonly connectionsPerSecond: bigint;
  readonly inPacketsPerSecond: bigint;
  readonly outPacketsPerSecond: bigint;
  readonly inBytesPerSecond: bigint;
  readonly outBytesPerSecond: bigint;
}

/**
 * Decodes the statistics of an object. Kernels since 4.1 send 64-bit statistics. Older kernels send only `stats`, whose
 * packet counters overflow at 32 bits.
 */
export function decodeStats(stats64: Buffer | undefined, stats: Buffer | undefined): Stats | undefined {
  const nested = stats64 ?? stats;
  if (!nested) return undefined;
  const attributes = attributeMap(nested);
  const counter = (type: number): bigint => {
    const value = attributes.get(type);
    return asU64(value) ?? BigInt(asU32(value) ?? 0);
  };
  return {
    connections: counter(1),
    inPackets: counter(2),
    outPackets: counter(3),
    inBytes: counter(4),
    outBytes: counter(5),
    connectionsPerSecond: counter(6),
    inPacketsPerSecond: counter(7),
    outPacketsPerSecond: counter(8),
    inBytesPerSecond: counter(9),
    outBytesPerSecond: counter(10),
  };
}

/** The columns of `ipvsadm -L --stats`: Conns InPkts OutPkts InBytes OutBytes. */
export function printStats(stats: Stats): string {
  return [stats.connections, stats.inPackets, stats.outPackets, stats.inBytes, stats.outBytes].join(' ');
}
