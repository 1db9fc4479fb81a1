export { type ConfigurationChanges, compareConfigurations, LIVE_FIELDS, type LiveField } from './changes.ts';
export * from './configuration.ts';
export { ConfigurationError, configurationText } from './configuration-text.ts';
export {
  appendPortIfNeeded,
  applyPlatformDefaults,
  HEALTHZ_PORT,
  METRICS_PORT,
  MODE_DEFAULTED,
} from './defaults.ts';
export { configurationObject, encodeConfiguration } from './encode.ts';
export * from './feature-gates.ts';
export { defaultConfiguration, type LoadedConfiguration, loadConfiguration } from './load.ts';
export { type HostPort, HostPortError, type PortRange, parseHostPort, parsePortRange, splitHostPort } from './ports.ts';
export { parseQuantity, type Quantity, QuantityError, quantityText, quantityValue } from './quantity.ts';
export { shortestDecimal } from './schema/index.ts';
export * from './validate/index.ts';
export { ConfigurationFile, type WatchOptions } from './watch-file.ts';
