export * from './bounded-frequency-runner.ts';
export * from './proxy-state.ts';
