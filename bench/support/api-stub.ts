import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** An object of the API. */
export interface ApiObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

const KINDS: Readonly<Record<string, readonly [apiVersion: string, kind: string]>> = {
  '/api/v1/services': ['v1', 'Service'],
  '/api/v1/nodes': ['v1', 'Node'],
  '/apis/discovery.k8s.io/v1/endpointslices': ['discovery.k8s.io/v1', 'EndpointSlice'],
  '/apis/networking.k8s.io/v1/servicecidrs': ['networking.k8s.io/v1', 'ServiceCIDR'],
};

/** The part of an API server that a proxy needs: lists and watches of a few kinds, in JSON, on loopback. */
export class ApiStub {
  readonly #objects: readonly ApiObject[];
  readonly #watches = new Map<string, Set<ServerResponse>>();
  readonly #server: Server;
  #version = 1;

  private constructor(objects: readonly ApiObject[]) {
    this.#objects = objects;
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(objects: readonly ApiObject[], port: number): Promise<ApiStub> {
    const stub = new ApiStub(objects);
    await new Promise<void>(resolve => stub.#server.listen(port, '127.0.0.1', resolve));
    return stub;
  }

  /** Sends the new version to all watches. */
  modify(object: ApiObject): void {
    const metadata = { ...object.metadata, resourceVersion: String(++this.#version) };
    for (const watch of this.#watches.get(object.kind) ?? []) send(watch, 'MODIFIED', { ...object, metadata });
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '', 'http://stub');
    const [apiVersion, kind] = KINDS[url.pathname] ?? [];
    response.setHeader('content-type', 'application/json');
    if (apiVersion !== undefined && kind !== undefined) this.#list(url, apiVersion, kind, response);
    else if (request.method === 'POST') echo(request, response);
    else
      response.writeHead(404).end(JSON.stringify({ apiVersion: 'v1', kind: 'Status', status: 'Failure', code: 404 }));
  }

  #list({ searchParams }: URL, apiVersion: string, kind: string, response: ServerResponse): void {
    const items = this.#objects.filter(object => object.kind === kind);
    const metadata = { resourceVersion: String(this.#version) };
    if (!searchParams.has('watch')) {
      response.end(JSON.stringify({ apiVersion, kind: `${kind}List`, metadata, items }));
      return;
    }
    response.flushHeaders();
    if (searchParams.get('sendInitialEvents') === 'true') {
      for (const item of items) send(response, 'ADDED', item);
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      send(response, 'BOOKMARK', { apiVersion, kind, metadata: { ...metadata, annotations } });
    }
    const watches = this.#watches.get(kind) ?? new Set();
    this.#watches.set(kind, watches.add(response));
    response.once('close', () => watches.delete(response));
  }
}

function send(response: ServerResponse, type: string, object: ApiObject): void {
  response.write(`${JSON.stringify({ type, object })}\n`);
}

function echo(request: IncomingMessage, response: ServerResponse): void {
  response.statusCode = 201;
  request.pipe(response);
}
