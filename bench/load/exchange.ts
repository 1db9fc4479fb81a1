/** One request to the API server and its answer, as the counter saw them. Bytes are those of the bodies. */
export interface Exchange {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly userAgent: string;
  /** 0 before the answer. */
  status: number;
  contentType: string;
  /** `gzip`, or empty. */
  contentEncoding: string;
  requestBytes: number;
  /** As they were on the network: compressed, if the server compressed them. */
  responseBytes: number;
}

/** Everything that went through the counter up to a moment. */
export interface Tally {
  readonly exchanges: readonly Exchange[];
  readonly connections: number;
  /** All bytes of the connections, those of TLS and HTTP/2 included. */
  readonly wireBytes: number;
}

/** What one kind of request transferred. */
export interface Transfer {
  /** `services`, `endpointslices`, `nodes`, `servicecidrs`, `events`. */
  readonly resource: string;
  readonly requests: number;
  readonly bytes: number;
}

/** The resource of a path: the last part that is neither a name nor a namespace. */
export function resourceOf(path: string): string {
  const [withoutQuery = ''] = path.split('?');
  const parts = withoutQuery.split('/').filter(Boolean);
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  return (rest[0] === 'namespaces' && rest.length > 2 ? rest[2] : rest[0]) ?? withoutQuery;
}

/** How the request reads: `streaming list`, `watch`, `list`, or the method in small letters. */
export function kindOf({ method, path }: Pick<Exchange, 'method' | 'path'>): string {
  if (method !== 'GET') return method.toLowerCase();
  const query = new URLSearchParams(path.split('?')[1] ?? '');
  const isWatch = query.get('watch') === 'true' || query.get('watch') === '1';
  if (!isWatch) return 'list';
  return query.get('sendInitialEvents') === 'true' ? 'streaming list' : 'watch';
}

/** What was transferred after `before`, by resource. Resources without requests and bytes are left out. */
export function transfersSince(now: Tally, before: Tally): readonly Transfer[] {
  const found = new Map<string, { requests: number; bytes: number }>();
  now.exchanges.forEach((exchange, i) => {
    const resource = resourceOf(exchange.path);
    const entry = found.get(resource) ?? { requests: 0, bytes: 0 };
    const former = before.exchanges[i];
    if (!former) entry.requests++;
    entry.bytes += bytesOf(exchange) - (former ? bytesOf(former) : 0);
    found.set(resource, entry);
  });
  return [...found]
    .filter(([, { requests, bytes }]) => requests > 0 || bytes > 0)
    .map(([resource, entry]) => ({ resource, ...entry }))
    .sort((a, b) => (a.resource < b.resource ? -1 : 1));
}

export function bytesOf({ requestBytes, responseBytes }: Exchange): number {
  return requestBytes + responseBytes;
}

/** `streaming list, protobuf` or `list, protobuf, gzip`: how most of the objects came. */
export function encodingOf({ exchanges }: Pick<Tally, 'exchanges'>): string {
  const largest = [...exchanges].sort((a, b) => b.responseBytes - a.responseBytes)[0];
  if (!largest) return 'nothing';
  const format = largest.contentType.includes('protobuf') ? 'protobuf' : 'JSON';
  return [kindOf(largest), format, largest.contentEncoding].filter(Boolean).join(', ');
}

export const EMPTY_TALLY: Tally = { exchanges: [], connections: 0, wireBytes: 0 };
