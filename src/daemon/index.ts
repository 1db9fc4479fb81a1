export type { DaemonOptions } from './options.ts';
