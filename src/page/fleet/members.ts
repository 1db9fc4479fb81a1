import { QueryError } from '../../inspect/index.ts';
import { compareTexts } from '../../lib/compare-texts.ts';
import { errorText } from '../../lib/error-text.ts';
import { isRecord } from '../../lib/is-record.ts';
import { parseJson } from '../../lib/parse-json.ts';
import type { FleetClient } from './client.ts';
import { type FoundPage, type PageTarget, pageInWords } from './page-target.ts';

export interface MembersOptions {
  readonly client: FleetClient;
  /** The namespace of the proxies' pods. */
  readonly namespace: string;
  /** The label selector of the proxies' pods. */
  readonly selector: string;
  /** Replaces what the pods' flags say. */
  readonly page?: PageTarget | undefined;
}

/** A node of the cluster, and the pod of its proxy. */
export interface Member {
  readonly node: string;
  readonly proxy?: ProxyPod | undefined;
}

export interface ProxyPod {
  readonly name: string;
  /** `Running`, `Pending` */
  readonly phase: string;
  readonly page: FoundPage;
}

export interface Members {
  /** Sorted by name. */
  readonly members: readonly Member[];
  readonly notes: readonly string[];
}

const PAGE_SIZE = 500;
/** Five million objects. */
const MAX_PAGES = 10_000;
const MAX_BYTES = 64 << 20;
const LIST_TIMEOUT_MS = 60_000;
/** Names are enough. The status of a Node is long: it lists images. */
const NAMES_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1, application/json';

/** Lists the nodes and the proxies' pods. Throws a QueryError if the API server does not list the pods. */
export async function listMembers(options: MembersOptions, signal: AbortSignal): Promise<Members> {
  const { namespace, selector, page } = options;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(LIST_TIMEOUT_MS)]);
  const podsPath = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
  const listNodes = list(options.client, '/api/v1/nodes', '', NAMES_ONLY, limited);
  const [pods, nodes] = await Promise.all([
    list(options.client, podsPath, selector, 'application/json', limited).catch(error => {
      const may = `it needs the right to list pods in the namespace ${namespace}`;
      throw new QueryError(`cannot list the proxies' pods: ${errorText(error)} (${may})`, 502);
    }),
    listNodes.catch((error: unknown) => errorText(error)),
  ]);
  const proxies = podsByNode(pods, page);
  const names = new Set([...proxies.keys(), ...(typeof nodes === 'string' ? [] : nodes.map(nameOf))]);
  const members = [...names].filter(name => name !== '').sort(compareTexts);
  return {
    members: members.map(node => ({ node, proxy: proxies.get(node) })),
    notes: typeof nodes === 'string' ? [`cannot list nodes, so nodes without a proxy are not shown: ${nodes}`] : [],
  };
}

type Item = Readonly<Record<string, unknown>>;

async function list(
  client: FleetClient,
  path: string,
  labelSelector: string,
  accept: string,
  signal: AbortSignal,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let token = '';
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
    if (labelSelector !== '') query.set('labelSelector', labelSelector);
    if (token !== '') query.set('continue', token);
    const { status, text } = await client.get({ path: `${path}?${query}`, accept, maxBytes: MAX_BYTES, signal });
    const body = parsed(text);
    if (status !== 200 || !isRecord(body) || !Array.isArray(body.items)) throw new Error(messageOf(status, body));
    items.push(...body.items.filter(isRecord));
    token = textAt(body, 'metadata', 'continue');
    if (token === '') return items;
  }
  throw new Error('the list has no end');
}

/** A load balancer before the API server answers in its own words. */
function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function messageOf(status: number, body: unknown): string {
  const message = isRecord(body) ? body.message : undefined;
  return typeof message === 'string' ? message : `the API server answered with the status ${status}`;
}

/** While a pod is replaced, a node has two. The one that runs and is not being deleted counts. */
function podsByNode(pods: readonly Item[], page: PageTarget | undefined): ReadonlyMap<string, ProxyPod> {
  const best = new Map<string, Item>();
  for (const pod of pods) {
    const node = textAt(pod, 'spec', 'nodeName');
    const other = best.get(node);
    if (node !== '' && (!other || rank(pod) > rank(other))) best.set(node, pod);
  }
  return new Map(
    [...best].map(([node, pod]) => [
      node,
      { name: nameOf(pod), phase: textAt(pod, 'status', 'phase'), page: page ?? pageInWords(wordsOf(pod)) },
    ]),
  );
}

function rank(pod: Item): number {
  const isKept = textAt(pod, 'metadata', 'deletionTimestamp') === '';
  return (isKept ? 2 : 0) + (textAt(pod, 'status', 'phase') === 'Running' ? 1 : 0);
}

function wordsOf(pod: Item): readonly string[] {
  const containers = isRecord(pod.spec) && Array.isArray(pod.spec.containers) ? pod.spec.containers : [];
  return containers
    .filter(isRecord)
    .flatMap(({ command, args }) => [command, args])
    .flatMap(words => (Array.isArray(words) ? words : []))
    .filter(word => typeof word === 'string');
}

function nameOf(item: Item): string {
  return textAt(item, 'metadata', 'name');
}

function textAt(item: Item, field: string, name: string): string {
  const part = item[field];
  const value = isRecord(part) ? part[name] : undefined;
  return typeof value === 'string' ? value : '';
}
