import { objectKey, objectName, type Service } from '../api/index.ts';
import {
  askedIP,
  type EndpointPlace,
  type Facts,
  fixedFacts,
  type Outcome,
  placeOutcomes,
  placesOf,
  podKey,
  slicesOf,
} from '../explain/index.ts';
import type { History } from '../history/index.ts';
import { Breaks } from '../lib/breaks.ts';
import type { Endpoint } from '../model/index.ts';
import { type Family, joinHostPort } from '../net/index.ts';
import { endpointsOf, type Frontend } from '../plan/index.ts';
import { objectAnswer } from './answers.ts';
import { type Query, QueryError, type Route } from './route.ts';
import {
  type EndpointDetail,
  type FrontendDetail,
  type PortDetail,
  SERVICE_SCHEMA,
  type ServiceDetail,
  type ServiceObject,
} from './service-detail.ts';
import {
  type EndpointReport,
  type FrontendReport,
  type PlannedPort,
  type PortReport,
  plannedPorts,
  portReporter,
} from './service-report.ts';
import { listingContext } from './services-context.ts';
import { missingServiceText } from './services-missing.ts';
import { serviceRow, unusableRow } from './services-row.ts';

/** The endpoints of each port, and of all ports: a Service may have hundreds of ports. */
const MAX_ENDPOINTS = { each: 1000, total: 5000 };
/** Those in the outcomes of each frontend, and of all frontends. */
const MAX_ANSWERING = { each: 100, total: 2000 };

export interface ServiceParts {
  facts(): Facts;
  readonly history: History;
  /** The last reading of the connection counters. Undefined if there was none. */
  lastCounts(): ReadonlyMap<string, number> | undefined;
}

export function serviceRoute(parts: ServiceParts): Route {
  return {
    path: '/v1/service',
    about: 'everything about one Service: its row, frontends with what callers get, and endpoints with reasons',
    parameters: { name: { about: 'NAMESPACE/NAME, or NAME in the namespace default', isRequired: true } },
    async answer(query) {
      const key = serviceKey(query, 'name');
      return objectAnswer(SERVICE_SCHEMA, await serviceDetail(key, parts));
    },
  };
}

/** `ns/name` from a parameter. */
export function serviceKey(query: Query, parameter: string): string {
  const text = query.get(parameter) ?? '';
  return text.includes('/') ? text : objectKey({ namespace: 'default', name: text });
}

async function serviceDetail(key: string, { facts: read, history, lastCounts }: ServiceParts): Promise<ServiceDetail> {
  const facts = fixedFacts(read());
  const context = listingContext(facts, history, lastCounts(), { services: new Set([key]) });
  const service = facts.objects.service(key);
  const row = service ? serviceRow(service, context) : unusableRow(objectName(key), context);
  if (!row) throw new QueryError(await missingServiceText(key, facts.objects.services()), 404);
  const zone = facts.state.nodeOptions.families.IPv4.node.zone;
  return { row, ...(service ? { object: objectOf(service) } : {}), ports: await portDetails(key, facts), zone };
}

function objectOf({ metadata, spec }: Service): ServiceObject {
  const { labels, annotations, uid, resourceVersion } = metadata;
  return { labels, annotations, hasSelector: spec.hasSelector ?? false, uid, resourceVersion };
}

async function portDetails(key: string, facts: Facts): Promise<readonly PortDetail[]> {
  const breaks = new Breaks();
  const report = portReporter(facts);
  const ports = plannedPorts(key, facts.state);
  const frontends = ports.reduce((sum, { plan }) => sum + plan.frontends.length, 0);
  const shown = { endpoints: share(MAX_ENDPOINTS, ports.length), answering: share(MAX_ANSWERING, frontends) };
  const places = new Map<Family, Places>();
  const details: PortDetail[] = [];
  for (const port of ports) {
    if (breaks.isDue) await breaks.take();
    // All ports of a family have the same slices.
    if (!places.has(port.family)) places.set(port.family, placesOf(slicesOf(key, port.family, facts)));
    details.push(await portDetail(port, report(port), { facts, places, shown, breaks }));
  }
  return details;
}

/** Each part may have the most if there are few parts. */
function share({ each, total }: { readonly each: number; readonly total: number }, parts: number): number {
  return Math.max(1, Math.min(each, Math.floor(total / parts)));
}

type Places = ReturnType<typeof placesOf>;

interface DetailContext {
  readonly facts: Facts;
  readonly places: ReadonlyMap<Family, Places>;
  /** How many of a port, and of an outcome, are listed. */
  readonly shown: { readonly endpoints: number; readonly answering: number };
  readonly breaks: Breaks;
}

async function portDetail(planned: PlannedPort, report: PortReport, context: DetailContext): Promise<PortDetail> {
  const { family, service, plan } = planned;
  const { places, shown, breaks } = context;
  const frontends: FrontendDetail[] = [];
  for (const [i, frontend] of plan.frontends.entries()) {
    const known = report.frontends[i];
    if (known) frontends.push(await frontendDetail(known, frontend, planned, context));
  }
  if (breaks.isDue) await breaks.take();
  const endpoints = new Map(endpointsOf(service, plan.port).map(each => [each.text, each]));
  const { namespace } = objectName(plan.service);
  return {
    ...report,
    frontends,
    conflicts: plan.conflicts.map(({ frontend, owner }) => ({ address: addressOf(frontend), owner })),
    endpoints: report.endpoints.slice(0, shown.endpoints).map(each => {
      const endpoint = endpoints.get(each.address);
      return endpointDetail(each, endpoint, endpoint && places.get(family)?.get(endpoint.ip), namespace);
    }),
    endpointCount: report.endpoints.length,
  };
}

function addressOf({ kind, ip, port }: Frontend): string {
  return ip === undefined ? `${kind} ${port}` : `${kind} ${joinHostPort(ip, port)}`;
}

async function frontendDetail(
  report: FrontendReport,
  frontend: Frontend,
  { family, plan }: PlannedPort,
  { facts, shown, breaks }: DetailContext,
): Promise<FrontendDetail> {
  const { pod, node, outside } = await placeOutcomes(plan, frontend, family, facts, breaks);
  const counts = (list: 'endpoints' | 'lost') => ({
    pod: countIn(pod, list),
    node: countIn(node, list),
    outside: countIn(outside, list),
  });
  const cut = (outcome: Outcome) => cutTo(shown.answering, outcome);
  return {
    ...report,
    askedAt: askedIP(frontend, family, facts),
    outcomes: { pod: cut(pod), node: cut(node), outside: cut(outside) },
    answering: counts('endpoints'),
    losing: counts('lost'),
  };
}

function countIn(outcome: Outcome, list: 'endpoints' | 'lost'): number {
  return outcome.kind === 'answered' ? outcome[list].length : 0;
}

function cutTo(count: number, outcome: Outcome): Outcome {
  if (outcome.kind !== 'answered') return outcome;
  const { endpoints, lost } = outcome;
  return { ...outcome, endpoints: endpoints.slice(0, count), lost: lost.slice(0, count) };
}

function endpointDetail(
  report: EndpointReport,
  endpoint: Endpoint | undefined,
  place: EndpointPlace | undefined,
  namespace: string,
): EndpointDetail {
  const { ready = false, serving = false, terminating = false, zoneHints, nodeHints } = endpoint ?? {};
  const pod = place?.targetRef && podKey(place.targetRef, namespace);
  return {
    ...report,
    ready,
    serving,
    terminating,
    ...(pod === undefined ? {} : { pod }),
    ...(place?.zone ? { zone: place.zone } : {}),
    ...(place ? { slice: place.slice } : {}),
    ...(zoneHints ? { hints: zoneHints } : {}),
    ...(nodeHints ? { nodeHints } : {}),
  };
}
