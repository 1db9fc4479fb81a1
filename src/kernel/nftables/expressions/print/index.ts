export { printRule } from './print-rule.ts';
export { counterText } from './state.ts';
export type { AnonymousSets } from './walk.ts';
