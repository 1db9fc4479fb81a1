import { type InspectedProxy, missingServiceText, QueryError, serviceReporter } from '../inspect/index.ts';
import { type FindService, serviceOfReport } from '../trace/index.ts';

/** Finds the addresses of a Service in the plans of a proxy of this process. */
export function serviceFromPlans({ facts }: Pick<InspectedProxy, 'facts'>): FindService {
  return async (namespace, name) => {
    const now = facts();
    const key = `${namespace}/${name}`;
    if (!now.objects.service(key)) throw new QueryError(await missingServiceText(key, now.objects.services()));
    return serviceOfReport(key, serviceReporter(now)(key));
  };
}
