export * from './decode.ts';
export { type FieldPath, type FieldProblem, fieldProblem } from './field-problem.ts';
export * from './objects.ts';
