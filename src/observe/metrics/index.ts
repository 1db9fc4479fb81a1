export type { BuildInfo, Feature } from './component-metrics.ts';
export type { PacketCounter } from './kube-proxy-metrics.ts';
export { type MetricsServerOptions, metricsHandler } from './metrics-server.ts';
export { type Changes, ProxyMetrics, type ProxyMetricsOptions } from './proxy-metrics.ts';
export type { StatuszInfo } from './zpages.ts';
