export { runDaemon } from './daemon.ts';
export { liveConfig } from './live-config.ts';
export type { DaemonOptions } from './options.ts';
export { localNode } from './own-node.ts';
