export { type Mode, type ModeEvents, type ModeSettings, type SetAside, SILENT_EVENTS } from './mode.ts';
export { NodeAddresses } from './node-addresses.ts';
export { StaleFlowCleaner } from './stale-flow-cleaner.ts';
