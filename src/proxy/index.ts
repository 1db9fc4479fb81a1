export { type EjectionReport, ejectionPortName, ejectionWords } from '../feedback/index.ts';
export * from './bounded-frequency-runner.ts';
export { type ModeSettingsInput, modeSettings } from './mode-settings.ts';
export * from './programmed-versions.ts';
export {
  createProxy,
  type LiveConfig,
  MASQUERADE_BIT,
  type ProxyConfig,
  type ProxyListeners,
  type RunningProxy,
  syncIntervals,
} from './proxy.ts';
export * from './proxy-loop.ts';
export * from './proxy-state.ts';
export { unavailableDefault } from './unavailable-balance.ts';
