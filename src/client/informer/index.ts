export type { InformerHandler } from './handlers.ts';
export { Informer, type InformerOptions } from './informer.ts';
export { JsonLines } from './json-lines.ts';
export { listOnce } from './list-once.ts';
export type { ApiProblem, InformerReporter } from './reporter.ts';
export { objectPath, objectTitle, type Resource } from './resource.ts';
export { ConnectWaits } from './retry-waits.ts';
