export { FIGURES, plusFigures, sumOfTraffic } from './figures.ts';
export { FlowTraffic } from './flow-traffic.ts';
export { type FamilyPlan, FrontendIndex } from './frontend-index.ts';
export { openSockets } from './open-sockets.ts';
export type { ServicePortTraffic, TrafficFigures } from './service-port-traffic.ts';
export { registerTraffic } from './traffic-metrics.ts';
export { connectionCounts, TrafficReader } from './traffic-reader.ts';
