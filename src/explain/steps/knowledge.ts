import type { Problem } from '../../lib/problem.ts';
import { FAMILIES } from '../../net/index.ts';
import type { Facts, WatchFact } from '../facts.ts';
import { type Finding, finding, listed } from '../finding.ts';

/** API servers send a bookmark about once a minute. */
const SILENT_AFTER_MS = 90_000;

/** Whether what the proxy knows is fresh and complete. `service` is `ns/name` of the Service in question. */
export function knowledgeStep(facts: Facts, service: string | undefined): Finding {
  const { origin, nodeName, isPending, watches } = facts;
  const problems = service === undefined ? [] : problemsOf(service, facts);
  const details = problems.map(problemText);
  const data = { node: nodeName, nodeFound: facts.state.ownNode !== undefined, isPending, watches, problems };
  const status = { text: 'look at the watches of the proxy', command: 'kube-proxy status' };
  const unsynced = watches.filter(({ hasSynced }) => !hasSynced);
  if (unsynced.length > 0) {
    const text = `The API server has not sent all ${listed(unsynced.map(resourceName))} yet.`;
    return finding('knowledge', 'unknown', text, {
      details: [...watchProblems(unsynced), ...details],
      data,
      next: status,
      isBlind: true,
    });
  }
  if (!facts.state.ownNode) {
    const text = `The Node ${nodeName} was not found, so its addresses, zone and pod ranges are not known.`;
    const next = { text: 'check the name of the node, which --hostname-override sets', command: 'kubectl get nodes' };
    return finding('knowledge', 'unknown', text, { details, data, next });
  }
  const silent = watches.filter(isSilent);
  if (silent.length > 0) {
    const text = `The proxy may not know the newest changes: ${silent.map(silenceText).join(', ')}.`;
    return finding('knowledge', 'unknown', text, {
      details: [...watchProblems(silent), ...details],
      data,
      next: status,
    });
  }
  const rest = { details: [...watchProblems(watches), ...details], data };
  if (isPending)
    return finding('knowledge', 'note', 'Some changes are not written yet; the next sync writes them.', rest);
  if (rest.details.length > 0) return finding('knowledge', 'note', `${knownText(facts)} There are problems:`, rest);
  return finding('knowledge', 'good', knownText(facts), { data: { ...data, origin } });
}

function isSilent({ silentMs }: WatchFact): boolean {
  return silentMs !== undefined && silentMs > SILENT_AFTER_MS;
}

function silenceText(watch: WatchFact): string {
  return `the watch of ${resourceName(watch)} has been silent for ${Math.round((watch.silentMs ?? 0) / 1000)} s`;
}

function watchProblems(watches: readonly WatchFact[]): readonly string[] {
  return watches.flatMap(watch => (watch.problem ? [`${resourceName(watch)}: ${watch.problem.message}`] : []));
}

/** `/apis/discovery.k8s.io/v1/endpointslices` is `endpointslices`. */
function resourceName({ path }: WatchFact): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function knownText({ origin, nodeName, watches }: Facts): string {
  switch (origin) {
    case 'manifests':
      return `The objects come from manifests, planned for node ${nodeName}.`;
    case 'cluster':
      return `The objects were just read from the API server, planned for node ${nodeName}.`;
    case 'proxy': {
      const ages = watches.flatMap(({ silentMs }) => silentMs ?? []);
      const age = ages.length === 0 ? '' : `, and the last message came ${Math.round(Math.max(...ages) / 1000)} s ago`;
      return watches.length === 0 ? 'The proxy has read all manifests.' : `The proxy has all objects${age}.`;
    }
  }
}

/** Faults of the Service and of its EndpointSlices. */
function problemsOf(service: string, { problems, state }: Facts): readonly Problem[] {
  if (problems.length === 0) return [];
  const slices = FAMILIES.flatMap(family => state.family(family).model.sliceKeysOf(service));
  const objects = new Set([`Service ${service}`, ...slices.map(key => `EndpointSlice ${key}`)]);
  return problems.filter(({ object }) => object !== undefined && objects.has(object));
}

function problemText({ where, object, field, message }: Problem): string {
  return `${[where, object].filter(Boolean).join(': ')}: ${[field, message].filter(Boolean).join(' ')}`;
}
