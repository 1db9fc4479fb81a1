export { plusFigures, sumOfTraffic, trafficId } from './figures.ts';
export { FlowTraffic, type FlowTrafficOptions } from './flow-traffic.ts';
export { type FamilyPlan, FrontendIndex } from './frontend-index.ts';
export { openSockets } from './open-sockets.ts';
