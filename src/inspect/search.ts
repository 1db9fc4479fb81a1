import { type EndpointSlice, LABEL_SERVICE_NAME, objectKey, type Service } from '../api/index.ts';
import { type Facts, podKey } from '../explain/index.ts';
import { Breaks } from '../lib/breaks.ts';
import { parseIp } from '../net/index.ts';
import { objectAnswer } from './answers.ts';
import { QueryError, type Route } from './route.ts';
import { SEARCH_SCHEMA, type SearchAnswer, type SearchResult } from './service-detail.ts';

const MAX_RESULTS = 200;
const MIN_LENGTH = 2;

export function searchRoute(facts: () => Facts): Route {
  return {
    path: '/v1/search',
    about: 'the Services that have an address, a port, an endpoint, a pod or a node',
    parameters: {
      q: { about: 'an IP or its beginning, a port number, or a part of the name of a pod or a node', isRequired: true },
    },
    async answer(query) {
      const text = (query.get('q') ?? '').trim().toLowerCase();
      if (text.length < MIN_LENGTH) throw new QueryError('the search needs two characters or more');
      return objectAnswer(SEARCH_SCHEMA, await search(text, facts(), query.disconnected));
    },
  };
}

/** Looks at all objects, with breaks, until there are enough results or the caller is gone. */
async function search(query: string, { objects }: Facts, gone: AbortSignal): Promise<SearchAnswer> {
  const results: SearchResult[] = [];
  const breaks = new Breaks();
  const ip = parseIp(query) ?? query;
  for (const found of allResults(query, ip, objects)) {
    if (found) results.push(found);
    if (results.length > MAX_RESULTS || gone.aborted) break;
    if (breaks.isDue) await breaks.take();
  }
  return { query, results: results.slice(0, MAX_RESULTS), isCut: results.length > MAX_RESULTS };
}

/** Undefined after each object without a result, so that the search can take a break. */
function* allResults(query: string, ip: string, objects: Facts['objects']): Iterable<SearchResult | undefined> {
  for (const service of objects.services()) {
    yield* serviceResults(service, query, ip);
    yield undefined;
  }
  for (const slice of objects.slices()) {
    yield* sliceResults(slice, query, ip);
    yield undefined;
  }
}

function* serviceResults({ metadata, spec, status }: Service, query: string, ip: string): Iterable<SearchResult> {
  const service = objectKey(metadata);
  const addresses = [
    ...[...spec.clusterIPs, spec.clusterIP].map(each => ['cluster IP', each] as const),
    ...spec.externalIPs.map(each => ['external IP', each] as const),
    ...status.loadBalancer.ingress.map(each => ['load-balancer IP', each.ip] as const),
  ];
  const address = addresses.find(([, each]) => each.startsWith(ip));
  if (address) yield { service, kind: 'address', why: address.join(' ') };
  for (const { port, nodePort, protocol } of spec.ports) {
    if (String(port) === query) yield { service, kind: 'port', why: `port ${port}/${protocol}` };
    if (String(nodePort) === query) yield { service, kind: 'port', why: `node port ${nodePort}/${protocol}` };
  }
}

/** One result for each kind: a Service may have thousands of endpoints on a node. */
function* sliceResults(
  { metadata, ports, endpoints }: EndpointSlice,
  query: string,
  ip: string,
): Iterable<SearchResult> {
  const name = metadata.labels[LABEL_SERVICE_NAME];
  if (!name) return;
  const service = objectKey({ namespace: metadata.namespace, name });
  const seen = new Set<SearchResult['kind']>();
  for (const { addresses, targetRef, nodeName = '' } of endpoints) {
    const address = addresses[0] ?? '';
    const pod = targetRef && podKey(targetRef, metadata.namespace);
    const kind = matchOf(query, ip, address, pod, nodeName);
    if (!kind || seen.has(kind)) continue;
    seen.add(kind);
    const what = kind === 'node' ? `is on node ${nodeName}` : pod ? `is pod ${pod}` : '';
    yield { service, kind, why: `endpoint ${address} ${what}`.trim() };
  }
  const target = ports.find(({ port }) => String(port) === query);
  if (target) yield { service, kind: 'port', why: `endpoint port ${target.port}/${target.protocol}` };
}

function matchOf(
  query: string,
  ip: string,
  address: string,
  pod: string | undefined,
  node: string,
): SearchResult['kind'] | undefined {
  if (address.startsWith(ip)) return 'endpoint';
  if (pod?.includes(query)) return 'pod';
  return node.includes(query) ? 'node' : undefined;
}
