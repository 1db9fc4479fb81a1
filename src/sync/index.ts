export * from './bounded-frequency-runner.ts';
export { type ModeSettingsInput, modeSettings } from './mode-settings.ts';
export * from './proxy-loop.ts';
export * from './proxy-state.ts';
