export type { InformerHandler } from './handlers.ts';
export { Informer, type InformerOptions } from './informer.ts';
export type { FollowingProblem, InformerReport, ObjectProblem } from './report.ts';
export type { Resource } from './resource.ts';
