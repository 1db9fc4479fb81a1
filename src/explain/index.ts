export type { Caller, Place } from './caller.ts';
export type { Facts, KernelFacts, ObjectLookup, WatchFact } from './facts.ts';
export type { AnsweringEndpoint, Outcome, SeenAs } from './outcome.ts';
