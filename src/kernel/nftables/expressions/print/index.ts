export { printRule } from './print-rule.ts';
export type { AnonymousSets } from './print-state.ts';
export { counterText } from './stateful-text.ts';
