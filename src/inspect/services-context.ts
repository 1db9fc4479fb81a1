import { LABEL_SERVICE_NAME, objectKey } from '../api/index.ts';
import type { Facts } from '../explain/index.ts';
import type { History } from '../history/index.ts';
import { appendTo } from '../lib/append-to.ts';
import type { Family } from '../net/index.ts';
import { endpointsOf, type ServicePortPlan } from '../plan/index.ts';

/** What the rows of a listing share. All lookups are by `ns/name` of the Service. */
export interface ListingContext {
  readonly families: readonly Family[];
  plansOf(family: Family, key: string): readonly ServicePortPlan[];
  /** How many endpoints the port has, usable or not. */
  allEndpoints(plan: ServicePortPlan): number;
  readonly setAside: ReadonlyMap<string, readonly string[]>;
  readonly problems: ReadonlyMap<string, readonly string[]>;
  isWaiting(key: string): boolean;
  /** Undefined if nothing counts connections. */
  readonly connections: ReadonlyMap<string, number> | undefined;
  readonly lastChanges: ReadonlyMap<string, number>;
}

/** What a caller knows already, or need not know for all Services. */
export interface ContextLimits {
  /** Only rows of these Services are made. */
  readonly services?: ReadonlySet<string>;
  readonly problems?: ListingContext['problems'];
}

export function listingContext(
  facts: Facts,
  history: History,
  connections: ReadonlyMap<string, number> | undefined,
  { services, problems = problemReasons(facts) }: ContextLimits = {},
): ListingContext {
  const { state, families } = facts;
  const waiting = facts.isPending ? history.waitingServices() : new Set<string>();
  return {
    families,
    plansOf: (family, key) => state.family(family).planner.plansOf(key),
    allEndpoints: plan => Math.max(...families.map(family => endpointCount(facts, family, plan))),
    setAside: setAsideReasons(facts),
    problems,
    isWaiting: key => waiting === undefined || waiting.has(key),
    connections,
    lastChanges: history.lastChanges(services),
  };
}

/** The plan belongs to one family; in the model of another family the port has another cluster IP. */
function endpointCount({ state }: Facts, family: Family, { service, port }: ServicePortPlan): number {
  const found = state.family(family).model.service(service);
  const isOwn = found?.ports.some(other => other.clusterIP === port.clusterIP) ?? false;
  return found && isOwn ? endpointsOf(found, port).length : 0;
}

export function setAsideReasons({ setAside }: Facts): ReadonlyMap<string, readonly string[]> {
  const reasons = new Map<string, string[]>();
  for (const { namespace, name, port, family, cause } of setAside) {
    const about = port === '' ? family : `port ${port}, ${family}`;
    appendTo(reasons, objectKey({ namespace, name }), `${about}: ${cause.message}`);
  }
  return reasons;
}

const SERVICE = 'Service ';
const SLICE = 'EndpointSlice ';

/** The problems of Services and of their EndpointSlices. */
export function problemReasons({ problems, objects }: Facts): ReadonlyMap<string, readonly string[]> {
  const reasons = new Map<string, string[]>();
  for (const { object = '', field, message, reason } of problems) {
    // The Service works, only not as it asks.
    if (reason === 'unavailable') continue;
    const text = field === undefined ? message : `${field} ${message}`;
    if (object.startsWith(SERVICE)) appendTo(reasons, object.slice(SERVICE.length), text);
    if (!object.startsWith(SLICE)) continue;
    const metadata = objects.slice(object.slice(SLICE.length))?.metadata;
    const name = metadata?.labels[LABEL_SERVICE_NAME];
    if (metadata && name) appendTo(reasons, objectKey({ namespace: metadata.namespace, name }), `${object}: ${text}`);
  }
  return reasons;
}
