export { cleanupIptables, type KeptRules } from './cleanup.ts';
export {
  hasLocalhostNodePorts,
  isTcpLiberal,
  ROUTE_LOCALNET_NOTICE,
  routeLocalnet,
  TCP_LIBERAL_NOTICE,
} from './machine.ts';
export { IptablesMode, type IptablesModeOptions } from './mode.ts';
export { PacketCounters } from './packet-counters.ts';
export { previewText } from './preview.ts';
export { type IptablesSupport, iptablesSupport } from './programs.ts';
