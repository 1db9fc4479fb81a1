export { cleanupIpvs, hasIpvsLeftovers } from './cleanup.ts';
export { IPVS_DEPRECATION } from './deprecation.ts';
export { DEVICE } from './kernel-state/address-table.ts';
export { type IpvsConfig, IpvsMode, type IpvsModeOptions } from './mode.ts';
export { type PrepareOptions, prepareIpvs } from './settings/kernel-settings.ts';
export { type PreviewInput, previewIpvs } from './preview.ts';
export { OWN_RULES } from './rules/rule-text.ts';
export { ipvsUnavailable } from './support.ts';
export { DEFAULT_SCHEDULER } from './wanted/virtual-server.ts';
