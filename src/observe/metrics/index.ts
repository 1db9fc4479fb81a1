export { BoundedReading } from './bounded-reading.ts';
export type { BuildInfo, Feature } from './component-metrics.ts';
export { alpha, kubeProxyName } from './kube-proxy-metrics.ts';
export { MetricSet, type Sample } from './metric-set.ts';
export { type MetricsServerOptions, metricsHandler } from './metrics-server.ts';
export { type Changes, ProxyMetrics, type ProxyMetricsOptions } from './proxy-metrics.ts';
export { advanced, type Total } from './total.ts';
export type { StatuszInfo } from './zpages.ts';
