export type { HostName } from './addresses.ts';
export { Cluster } from './cluster.ts';
export { EchoServer } from './echo.ts';
export { POD_BRIDGE } from './machines.ts';
export { type Placement, placementOf } from './placement.ts';
export { type ProbeOptions, type ProbeProtocol, type ProbeResult, probe } from './probe.ts';
