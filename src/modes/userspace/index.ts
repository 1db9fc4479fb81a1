export { cleanupUserspace } from './cleanup.ts';
export { UserspaceMode, type UserspaceModeOptions } from './mode.ts';
export type { PortRange } from './port-allocator.ts';
