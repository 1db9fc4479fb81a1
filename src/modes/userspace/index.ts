export { type Cleanup, cleanupUserspace } from './cleanup.ts';
export type { PortCounters } from './counters.ts';
export type { ServiceCounters } from './family-portals.ts';
export { UserspaceMode, type UserspaceModeOptions } from './mode.ts';
export type { PortRange } from './port-allocator.ts';
