export { type AtSocket, atSocket } from './at-socket.ts';
export { frontendOutcome } from './frontend-outcome.ts';
export { isBehindNode, isDetectedPod } from './local-caller.ts';
export { matchFrontend } from './match-frontend.ts';
export { outcomeOf } from './outcome-of.ts';
export type { Destination, FrontendIndex, OutcomeContext, OutcomeInput, Question } from './question.ts';
