import { parseQuestion, resolveTarget } from '../explain/index.ts';
import { type InspectedProxy, missingServiceText, QueryError, serviceReporter } from '../inspect/index.ts';
import { type FindService, serviceOfReport } from '../trace/index.ts';
import type { IsServed } from './trace-send.ts';

/** Finds the addresses of a Service in the plans of a proxy of this process. */
export function serviceFromPlans({ facts }: Pick<InspectedProxy, 'facts'>): FindService {
  return async (namespace, name) => {
    const now = facts();
    const key = `${namespace}/${name}`;
    if (!now.objects.service(key)) throw new QueryError(await missingServiceText(key, now.objects.services()));
    return serviceOfReport(key, serviceReporter(now)(key));
  };
}

/** Finds the frontend that a connection of the node meets in the plans of a proxy of this process. */
export function servedFromPlans(proxy: Pick<InspectedProxy, 'facts'>): IsServed {
  return async to => (await resolveTarget(parseQuestion({ from: 'node', to }), proxy.facts())).kind === 'frontend';
}
