import type { Family } from '../../../net/index.ts';

/** What a virtual or real server has carried since it was made. */
export interface TrafficCounts {
  readonly connections: bigint;
  readonly inPackets: bigint;
  readonly outPackets: bigint;
  readonly inBytes: bigint;
  readonly outBytes: bigint;
}

export interface RealServerStatistics extends TrafficCounts {
  /** `10.244.1.2:8080` */
  readonly address: string;
  /** 0 while it waits for its last connection to end. */
  readonly weight: number;
  readonly activeConnections: number;
  readonly inactiveConnections: number;
}

/** One service port with all its virtual servers. */
export interface ServicePortStatistics extends TrafficCounts {
  /** No other service port has this id. */
  readonly id: string;
  readonly family: Family;
  /** `namespace/name` */
  readonly service: string;
  /** The name of the port; empty if it has none. */
  readonly port: string;
  readonly protocol: string;
  readonly realServers: readonly RealServerStatistics[];
}

/** All other service ports of a family together. */
export interface OtherStatistics extends TrafficCounts {
  readonly family: Family;
  readonly servicePorts: number;
}

export interface ServerStatistics {
  /** The service ports of `keep` and then the busiest ones, at most `limit`. Idle ones are only among the first. */
  readonly servicePorts: readonly ServicePortStatistics[];
  /** One for each family. */
  readonly others: readonly OtherStatistics[];
  readonly virtualServers: number;
}

export interface StatisticsOptions {
  /** How many service ports have statistics of their own. By default 100. */
  readonly limit?: number | undefined;
  /** The ids of service ports that have statistics of their own, however idle they are. */
  readonly keep?: ReadonlySet<string> | undefined;
}
