export { cleanupUserspace } from './cleanup.ts';
export { UserspaceMode } from './mode.ts';
export type { UserspaceModeOptions } from './mode-options.ts';
export type { PortRange } from './relay/port-allocator.ts';
