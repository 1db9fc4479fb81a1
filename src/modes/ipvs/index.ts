export { cleanupIpvs, hasIpvsLeftovers } from './cleanup.ts';
export { IPVS_DEPRECATION } from './deprecation.ts';
export { DEVICE } from './device.ts';
export { type IpvsConfig, IpvsMode, type IpvsModeOptions } from './mode.ts';
export { type PrepareOptions, prepareIpvs } from './prepare.ts';
export { type PreviewInput, previewIpvs } from './preview.ts';
export { OWN_RULES } from './rules.ts';
export { ipvsUnavailable } from './support.ts';
export { DEFAULT_SCHEDULER } from './virtual-server.ts';
