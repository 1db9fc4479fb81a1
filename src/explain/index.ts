export type { Caller, Place } from './caller.ts';
export { explain } from './explain.ts';
export {
  type AskedQuestion,
  EXPLANATION_SCHEMA,
  type ExplainedCaller,
  type ExplainedTarget,
  type Explanation,
  type ExplanationOrigin,
  type NextStep,
  type Step,
  type StepVerdict,
  type Topic,
  type Verdict,
} from './explanation.ts';
export { behaviourNow, type Facts, fixedFacts, type KernelFacts, type WatchFact } from './facts.ts';
export {
  type AtSocket,
  atSocket,
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
export { askedIP, placeOutcomes } from './place-outcomes.ts';
export { type EndpointPlace, placesOf, podKey } from './pods.ts';
export { type ProxyFactsParts, proxyFacts } from './proxy-facts.ts';
export { type OperatorQuestion, parseQuestion, QuestionError, type QuestionTexts, questionTexts } from './question.ts';
export { type EndpointUse, endpointUses, socketOwners } from './socket-owner.ts';
export { resolveTarget, slicesOf } from './target.ts';
