export * from './configuration.ts';
export { configurationObject, encodeConfiguration } from './encode.ts';
export { ConfigurationError, defaultConfiguration, type LoadedConfiguration, loadConfiguration } from './load.ts';
export { applyPlatformDefaults } from './platform-defaults.ts';
