export type { InformerHandler } from './handlers.ts';
export { Informer, type InformerOptions } from './informer.ts';
export type { ApiProblem, InformerReporter } from './reporter.ts';
export type { Resource } from './resource.ts';
export { ConnectWaits } from './retry-waits.ts';
