export { printRule } from './print-rule.ts';
export type { AnonymousSets } from './walk.ts';
