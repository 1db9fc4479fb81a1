export type { Mode, ModeEvents, ModeSettings, SetAside } from './mode.ts';
export { NodeAddresses } from './node-addresses.ts';
export { StaleFlowCleaner } from './stale-flow-cleaner.ts';
