import type { Facts } from '../explain/index.ts';
import { type NamePattern, parseNamePattern } from '../lib/name-pattern.ts';
import { linesAnswer } from './answers.ts';
import { QueryError, type Route } from './route.ts';
import { serviceReporter } from './service-report.ts';
import { missingServiceText } from './services-missing.ts';

const PLANS_SCHEMA = 'pointsman.plans/v1';

export function planRoute(facts: () => Facts): Route {
  return {
    path: '/v1/plan',
    about: 'what is planned for each Service, and why, one JSON object a line',
    parameters: {
      service: { about: 'NAMESPACE/NAME, NAME in the namespace default, or a glob with * and ?' },
    },
    async answer(query) {
      const now = facts();
      const service = query.get('service');
      const pattern = service === undefined || service === '' ? undefined : parseNamePattern(service);
      if (pattern?.isExact && !now.objects.service(pattern.text)) {
        throw new QueryError(await missingServiceText(pattern.text, now.objects.services()));
      }
      const keys = pattern?.isExact ? [pattern.text] : plannedServices(now, pattern);
      return linesAnswer(PLANS_SCHEMA, reports(now, keys), { node: now.nodeName });
    },
  };
}

function* reports(facts: Facts, keys: Iterable<string>): Iterable<object> {
  const report = serviceReporter(facts);
  for (const key of keys) yield report(key);
}

/** All Services that have a plan, in no order: to sort them would take long. */
function* plannedServices({ families, state }: Facts, pattern: NamePattern | undefined): Iterable<string> {
  const seen = new Set<string>();
  for (const family of families) {
    for (const { service } of state.family(family).planner.plans()) {
      if (seen.has(service)) continue;
      seen.add(service);
      if (!pattern || pattern.matches(service)) yield service;
    }
  }
}
