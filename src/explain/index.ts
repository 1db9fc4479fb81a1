export type { Caller, Place } from './caller.ts';
export type { Facts, KernelFacts, ObjectLookup, WatchFact } from './facts.ts';
export {
  type Destination,
  type FrontendIndex,
  frontendOutcome,
  isBehindNode,
  isDetectedPod,
  matchFrontend,
  type OutcomeContext,
  type OutcomeInput,
  outcomeOf,
  type Question,
} from './outcome/index.ts';
export type {
  AnsweringEndpoint,
  Choice,
  Outcome,
  ReasonCode,
  Remark,
  RemarkCode,
  SeenAs,
} from './outcome.ts';
