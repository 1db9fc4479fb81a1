import type { Family } from '../../../net/index.ts';

/** What was carried since the virtual or real server was made. */
export interface Traffic {
  readonly connections: bigint;
  readonly inPackets: bigint;
  readonly outPackets: bigint;
  readonly inBytes: bigint;
  readonly outBytes: bigint;
}

export interface RealServerStatistics extends Traffic {
  /** `10.244.1.2:8080` */
  readonly address: string;
  /** 0 while it waits for its last connection to end. */
  readonly weight: number;
  readonly activeConnections: number;
  readonly inactiveConnections: number;
}

/** One service port, all its addresses together. */
export interface ServicePortStatistics extends Traffic {
  /** No other service port has it. */
  readonly id: string;
  readonly family: Family;
  /** `ns/name:port` */
  readonly servicePort: string;
  readonly protocol: string;
  readonly realServers: readonly RealServerStatistics[];
}

export interface OtherStatistics extends Traffic {
  readonly family: Family;
  readonly servicePorts: number;
}

export interface ServerStatistics {
  /** Those that were to be kept, and the busiest by connections, at most as many as asked for. Idle ones are none of them. */
  readonly servicePorts: readonly ServicePortStatistics[];
  /** All others together, for each family. */
  readonly others: readonly OtherStatistics[];
  readonly virtualServers: number;
}

export interface StatisticsOptions {
  /** How many service ports are told one by one, 100 unless told. */
  readonly limit?: number | undefined;
  /** Ids of service ports that are told one by one before others, however busy they are. */
  readonly keep?: ReadonlySet<string> | undefined;
}
