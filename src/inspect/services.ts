import { objectKey, objectName, type Service } from '../api/index.ts';
import type { Facts } from '../explain/index.ts';
import type { History } from '../history/index.ts';
import { Breaks, sortWithBreaks } from '../lib/breaks.ts';
import { compareTexts } from '../lib/compare-texts.ts';
import { type NamePattern, parseNamePattern } from '../lib/name-pattern.ts';
import type { ServicePortTraffic } from '../modes/index.ts';
import { linesAnswer } from './answers.ts';
import { QueryError, type Route } from './route.ts';
import { type ListingContext, listingContext, problemReasons } from './services-context.ts';
import { missingServiceText } from './services-missing.ts';
import { type ServiceRow, serviceRow, unusableRow } from './services-row.ts';
import { isBroken } from './services-state.ts';
import { type ServiceTraffic, trafficByService } from './traffic.ts';

export const SERVICES_SCHEMA = 'pointsman.services/v1';

export interface ListingParts {
  facts(): Facts;
  readonly history: History;
  /** Undefined if the mode does not count connections. */
  connectionCounts(): Promise<ReadonlyMap<string, number> | undefined>;
  /** Undefined if the mode does not count. */
  traffic?(): Promise<readonly ServicePortTraffic[] | undefined>;
}

export interface ListingQuery {
  /** The rows have what their Services carried. */
  readonly traffic?: ServiceTraffic | undefined;
  /** By default all Services. */
  readonly pattern?: NamePattern | undefined;
  /** Only Services that do not answer every caller. */
  readonly isBrokenOnly?: boolean | undefined;
}

export function servicesRoute(parts: ListingParts): Route {
  return {
    path: '/v1/services',
    about: 'the Services as this node serves them, sorted by namespace and name, one JSON object a line',
    parameters: {
      name: { about: 'NAMESPACE/NAME, NAME in the namespace default, or a glob with * and ?' },
      traffic: { about: 'also what each Service carried', words: ['true', 'false'] },
      broken: { about: 'only Services that do not answer every caller', words: ['true', 'false'] },
    },
    readsKernel: true,
    async answer(query) {
      const name = query.get('name');
      const pattern = name === undefined || name === '' ? undefined : parseNamePattern(name);
      const facts = parts.facts();
      if (pattern?.isExact && !facts.objects.service(pattern.text) && !problemReasons(facts).has(pattern.text)) {
        throw new QueryError(await missingServiceText(pattern.text, facts.objects.services()));
      }
      const connections = await parts.connectionCounts();
      const traffic = query.get('traffic') === 'true' ? await parts.traffic?.() : undefined;
      const byService = traffic && trafficByService(traffic);
      const rows = serviceRows(facts, parts.history, connections, {
        traffic: byService,
        pattern,
        isBrokenOnly: query.get('broken') === 'true',
      });
      const { startedAt, completeSince } = parts.history;
      return linesAnswer(SERVICES_SCHEMA, rows, {
        node: facts.nodeName,
        mode: facts.mode.descriptor.name,
        startedAt: new Date(startedAt).toISOString(),
        historySince: new Date(completeSince).toISOString(),
        countsConnections: connections !== undefined,
        ...(byService ? { countsTraffic: byService.counted } : {}),
      });
    },
  };
}

/** The rows in groups, each of a few milliseconds of work. Only the sorted list of Services is held. */
export async function* serviceRows(
  facts: Facts,
  history: History,
  connections: ReadonlyMap<string, number> | undefined,
  { traffic, pattern, isBrokenOnly }: ListingQuery,
): AsyncGenerator<readonly ServiceRow[], void> {
  const breaks = new Breaks();
  const context = listingContext(facts, history, connections);
  const services = await sortedServices(facts, context, pattern, breaks);
  let rows: ServiceRow[] = [];
  for (const { metadata } of services) {
    // The Service may have changed, or gone, since the list was made.
    const service = facts.objects.service(objectKey(metadata));
    const row = service ? serviceRow(service, context) : unusableRow(metadata, context);
    if (row && (!isBrokenOnly || isBroken(row.state))) rows.push(withTraffic(row, traffic));
    if (!breaks.isDue) continue;
    if (rows.length > 0) yield rows;
    rows = [];
    await breaks.take();
  }
  if (rows.length > 0) yield rows;
}

function withTraffic(row: ServiceRow, traffic: ServiceTraffic | undefined): ServiceRow {
  return traffic ? { ...row, traffic: traffic.of(objectKey(row)) } : row;
}

/** A Service, or the name of one whose object cannot be used. */
interface Named {
  readonly metadata: Pick<Service['metadata'], 'namespace' | 'name'>;
}

async function sortedServices(
  { objects }: Facts,
  { problems }: ListingContext,
  pattern: NamePattern | undefined,
  breaks: Breaks,
): Promise<readonly Named[]> {
  if (pattern?.isExact) return [{ metadata: objectName(pattern.text) }];
  const services: Named[] = [];
  for (const service of objects.services()) {
    if (!pattern || pattern.matches(objectKey(service.metadata))) services.push(service);
    if (breaks.isDue) await breaks.take();
  }
  for (const key of problems.keys()) {
    if (!objects.service(key) && (!pattern || pattern.matches(key))) services.push({ metadata: objectName(key) });
  }
  return await sortWithBreaks(services, compareServices, breaks);
}

function compareServices({ metadata: a }: Named, { metadata: b }: Named): number {
  return compareTexts(a.namespace, b.namespace) || compareTexts(a.name, b.name);
}
