export { runDaemon } from './daemon.ts';
export { localNode } from './local-node.ts';
export type { DaemonOptions } from './options.ts';
