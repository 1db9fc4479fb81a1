export * from './matches.ts';
export * from './nat.ts';
export { concat, concatBytes, type Selector } from './selector.ts';
export * from './selectors.ts';
export type { SetReference } from './set-reference.ts';
export * from './sets.ts';
export * from './statements.ts';
