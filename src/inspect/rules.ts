import type { Facts } from '../explain/index.ts';
import { goQuote } from '../lib/go-quote.ts';
import { parseNamePattern } from '../lib/name-pattern.ts';
import type { Listing } from '../modes/index.ts';
import { FAMILIES, type Family } from '../net/index.ts';
import type { ServicePortPlan } from '../plan/index.ts';
import { objectAnswer } from './answers.ts';
import { QueryError, type Route } from './route.ts';
import { missingServiceText } from './services-missing.ts';

export type { ListedBlock, ListedLine, ListedPart } from '../modes/index.ts';

export const RULES_SCHEMA = 'pointsman.rules/v1';

/** The answer of `/v1/rules`. */
export interface RulesAnswer extends Listing {
  readonly schema: typeof RULES_SCHEMA;
  /** The name of the mode. */
  readonly mode: string;
  readonly family: Family;
  /** The families that the proxy serves. */
  readonly families: readonly Family[];
  /** `ns/name` of the Service whose lines the listing has. */
  readonly service?: string | undefined;
}

export type ListRules = (family: Family, plans: readonly ServicePortPlan[]) => Promise<Listing>;

export function rulesRoute(facts: () => Facts, listing: ListRules): Route {
  return {
    path: '/v1/rules',
    about: 'the program that the mode wants in the kernel, with the rules of one Service',
    parameters: {
      family: { about: 'IPv4 or IPv6. The default is the first family of the proxy', words: FAMILIES },
      service: { about: 'NAMESPACE/NAME, or NAME in the namespace default' },
    },
    async answer(query) {
      const now = facts();
      const family = familyOf(query.get('family'), now.families);
      const service = await serviceOf(query.get('service'), now);
      const plans = service === undefined ? [] : now.state.family(family).planner.plansOf(service);
      const { mode, families } = now;
      const listed = await listing(family, plans);
      return objectAnswer(RULES_SCHEMA, { mode: mode.descriptor.name, family, families, service, ...listed });
    },
  };
}

function familyOf(given: string | undefined, served: readonly Family[]): Family {
  const family = served.find(name => given === undefined || name === given);
  if (family === undefined) throw new QueryError(`the proxy does not serve ${given}: use ${served.join(' or ')}`);
  return family;
}

async function serviceOf(text: string | undefined, { objects }: Facts): Promise<string | undefined> {
  if (text === undefined || text === '') return undefined;
  const pattern = parseNamePattern(text);
  if (!pattern.isExact) throw new QueryError(`${goQuote(text)} is a pattern: name one Service`);
  if (objects.service(pattern.text)) return pattern.text;
  throw new QueryError(await missingServiceText(pattern.text, objects.services()));
}
