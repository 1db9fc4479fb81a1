export { runDaemon } from './daemon.ts';
export type { DaemonOptions } from './options.ts';
export { localNode } from './own-node.ts';
