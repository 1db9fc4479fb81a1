import { planName, type ServicePortPlan } from '../plan/index.ts';

/** Blanks, quotes, backslashes, and everything but printable ASCII. Names that an API server accepts have none. */
const UNSAFE = /[^!#-[\]-~]/g;

/**
 * The name of a service port for comments of rules. No tool reads more into it than one word: an unsafe character in a
 * name could otherwise end the comment, or the line, and begin a rule.
 */
export function commentName(plan: ServicePortPlan): string {
  return planName(plan).replace(UNSAFE, '_');
}
