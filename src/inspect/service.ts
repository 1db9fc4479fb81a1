import { objectKey, objectName, type Service } from '../api/index.ts';
import {
  askedIP,
  type EndpointPlace,
  type Facts,
  fixedFacts,
  type Outcome,
  type Place,
  placeOutcomes,
  placesOf,
  podKey,
  slicesOf,
} from '../explain/index.ts';
import type { History } from '../history/index.ts';
import { Breaks } from '../lib/breaks.ts';
import type { Endpoint } from '../model/index.ts';
import { FAMILIES, type Family, joinHostPort } from '../net/index.ts';
import { endpointsOf, type Frontend, type ServicePortPlan } from '../plan/index.ts';
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
import { type EndpointReport, type FrontendReport, type PortReport, serviceReporter } from './service-report.ts';
import { listingContext } from './services-context.ts';
import { missingServiceText } from './services-missing.ts';
import { serviceRow, unusableRow } from './services-row.ts';

const MAX_ENDPOINTS = 1000;
/** In each outcome. */
const MAX_ANSWERING = 100;

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

interface PlannedPort {
  readonly family: Family;
  readonly plan: ServicePortPlan;
}

async function portDetails(key: string, facts: Facts): Promise<readonly PortDetail[]> {
  const breaks = new Breaks();
  const reports = serviceReporter(facts)(key).ports;
  // In the order of the reports.
  const planned = FAMILIES.flatMap(family => {
    const { model, planner } = facts.state.family(family);
    return model.service(key) ? planner.plansOf(key).map((plan): PlannedPort => ({ family, plan })) : [];
  });
  const details: PortDetail[] = [];
  for (const [i, port] of planned.entries()) {
    const report = reports[i];
    if (report) details.push(portDetail(port, report, facts));
    if (breaks.isDue) await breaks.take();
  }
  return details;
}

function portDetail({ family, plan }: PlannedPort, report: PortReport, facts: Facts): PortDetail {
  const service = facts.state.family(family).model.service(plan.service);
  const endpoints = new Map((service ? endpointsOf(service, plan.port) : []).map(each => [each.text, each]));
  const places = placesOf(slicesOf(plan.service, family, facts));
  const { namespace } = objectName(plan.service);
  return {
    ...report,
    frontends: plan.frontends.flatMap((frontend, i) => {
      const known = report.frontends[i];
      return known ? [frontendDetail(known, frontend, { family, plan }, facts)] : [];
    }),
    conflicts: plan.conflicts.map(({ frontend, owner }) => ({ address: addressOf(frontend), owner })),
    endpoints: report.endpoints.slice(0, MAX_ENDPOINTS).map(each => {
      const endpoint = endpoints.get(each.address);
      return endpointDetail(each, endpoint, endpoint && places.get(endpoint.ip), namespace);
    }),
    endpointCount: report.endpoints.length,
  };
}

function addressOf({ kind, ip, port }: Frontend): string {
  return ip === undefined ? `${kind} ${port}` : `${kind} ${joinHostPort(ip, port)}`;
}

function frontendDetail(
  report: FrontendReport,
  frontend: Frontend,
  { family, plan }: PlannedPort,
  facts: Facts,
): FrontendDetail {
  const { pod, node, outside } = placeOutcomes(plan, frontend, family, facts);
  const answering: Record<Place, number> = {
    pod: answeringCount(pod),
    node: answeringCount(node),
    outside: answeringCount(outside),
  };
  const askedAt = askedIP(frontend, family, facts);
  return { ...report, askedAt, outcomes: { pod: cut(pod), node: cut(node), outside: cut(outside) }, answering };
}

function answeringCount(outcome: Outcome): number {
  return outcome.kind === 'answered' ? outcome.endpoints.length : 0;
}

function cut(outcome: Outcome): Outcome {
  if (outcome.kind !== 'answered') return outcome;
  const { endpoints, lost } = outcome;
  return { ...outcome, endpoints: endpoints.slice(0, MAX_ANSWERING), lost: lost.slice(0, MAX_ANSWERING) };
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
