import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { type AnyRequest, type AnyResponse, TestServer } from './api-server.ts';

const KINDS: Readonly<Record<string, string>> = {
  services: 'ServiceList',
  nodes: 'NodeList',
  endpointslices: 'EndpointSliceList',
  servicecidrs: 'ServiceCIDRList',
};

/**
 * An API server, or an HTTP proxy in front of one, that repeats the credentials of the caller in its errors. Until
 * `accept` it refuses the credentials. It always refuses Events, and keeps them.
 */
export class EchoingApiServer {
  readonly events: string[] = [];
  /** The status of a request that the server does not accept. */
  refusal = 401;
  /** Which requests the server accepts. */
  accepts: (request: AnyRequest) => boolean = () => false;
  /** The number of requests so far. */
  requests = 0;
  readonly #watches: AnyResponse[] = [];
  #server: TestServer | undefined;

  static async start(namespace: NetworkNamespace): Promise<EchoingApiServer> {
    const api = new EchoingApiServer();
    api.#server = await TestServer.start((request, response) => api.#answer(request, response), {
      namespace,
      askCertificate: true,
    });
    return api;
  }

  get url(): string {
    return this.#server?.url() ?? '';
  }

  accept(): void {
    this.accepts = () => true;
  }

  /** Ends all watches that are open. */
  endWatches(): void {
    for (const watch of this.#watches.splice(0)) watch.end();
  }

  close(): Promise<void> | undefined {
    return this.#server?.close();
  }

  #answer(request: AnyRequest, response: AnyResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'https://api.test');
    this.requests++;
    if (!this.accepts(request)) fail(request, response, this.refusal, 'Unauthorized');
    else if (request.method !== 'GET') this.#keepEvent(request, response);
    // The client then lists without streaming.
    else if (searchParams.has('sendInitialEvents')) fail(request, response, 400, 'BadRequest');
    else if (searchParams.has('watch')) this.#watch(response);
    else list(pathname, response);
  }

  /** A watch stays open and has no events. */
  #watch(response: AnyResponse): void {
    this.#watches.push(response);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('');
  }

  #keepEvent(request: AnyRequest, response: AnyResponse): void {
    let text = '';
    request.on('data', chunk => {
      text += chunk;
    });
    request.on('end', () => {
      this.events.push(text);
      fail(request, response, 403, 'Forbidden');
    });
  }
}

const NODE = {
  metadata: { name: 'node-a', resourceVersion: '1' },
  status: { addresses: [{ type: 'InternalIP', address: '192.168.0.2' }] },
};

function list(path: string, response: AnyResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const resource = path.split('/').at(-1) ?? '';
  const items = resource === 'nodes' ? [NODE] : [];
  response.end(JSON.stringify({ kind: KINDS[resource], metadata: { resourceVersion: '1' }, items }));
}

function fail(request: AnyRequest, response: AnyResponse, code: number, reason: string): void {
  const message = `no access with ${request.headers.authorization}`;
  response.writeHead(code, { 'content-type': 'application/json', ...(code === 429 ? { 'retry-after': '0' } : {}) });
  response.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, code }));
}
