export * from './bounded-frequency-runner.ts';
export * from './proxy-loop.ts';
export * from './proxy-state.ts';
