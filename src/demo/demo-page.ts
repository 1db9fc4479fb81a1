import type { Server } from 'node:net';
import { inspect, inspectionHandler, type LiveHub, localOnly, type ObservedConnection } from '../inspect/index.ts';
import { errorCode } from '../lib/error-code.ts';
import { type Ip, joinHostPort } from '../net/index.ts';
import { ConnectionTable, HttpServer } from '../observe/http/index.ts';
import { pageHandler } from '../page/index.ts';
import type { Demo } from './demo.ts';

/** Where the page listens. A listener that exists was opened before the process entered another network namespace. */
export type PageListener =
  | { readonly kind: 'address'; readonly ip: Ip; readonly port: number; readonly isFixed: boolean }
  | { readonly kind: 'listener'; readonly listener: Server; readonly ip: Ip };

export interface DemoPageOptions {
  readonly at: PageListener;
  /** The version of Pointsman. */
  readonly version: string;
}

const MAX_CONNECTIONS = 64;
/** Many questions of a round end at the same time. */
const SEND_MS = 250;

/** The operator's page about the proxy of the demo. */
export class DemoPage {
  readonly url: string;
  readonly #server: HttpServer;
  readonly #live: LiveHub;
  #observed: ObservedConnection[] = [];
  #timer: NodeJS.Timeout | undefined;

  private constructor(server: HttpServer, live: LiveHub, ip: Ip) {
    this.#server = server;
    this.#live = live;
    this.url = `http://${joinHostPort(ip, server.port)}/`;
  }

  static async open(demo: Demo, { at, version }: DemoPageOptions): Promise<DemoPage> {
    const { routes, live } = inspect(demo.inspected(version));
    const handle = pageHandler({
      api: inspectionHandler({ routes }),
      info: { version, allows: ['probe', 'trace'], view: 'node', command: 'kube-proxy' },
      allowFlag: '',
      routes: [demo.traceRoute()],
    });
    const settings = { handle: localOnly(handle), connections: new ConnectionTable(MAX_CONNECTIONS) };
    return new DemoPage(await openServer(at, settings), live, at.ip);
  }

  /** Draws connections that the demo made. */
  observed(connections: readonly ObservedConnection[]): void {
    if (this.#live.readers === 0) return;
    this.#observed.push(...connections);
    this.#timer ??= setTimeout(() => this.#send(), SEND_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#live.close();
    this.#server.close();
  }

  #send(): void {
    this.#timer = undefined;
    this.#live.observed(this.#observed);
    this.#observed = [];
  }
}

async function openServer(at: PageListener, settings: Parameters<typeof HttpServer.serve>[1]): Promise<HttpServer> {
  if (at.kind === 'listener') {
    return HttpServer.serve(async onConnection => at.listener.on('connection', onConnection), settings);
  }
  const { ip, port, isFixed } = at;
  try {
    return await HttpServer.open({ ip, port, ...settings });
  } catch (error) {
    // Another demo, or a proxy with its page, may have the usual port.
    if (isFixed || errorCode(error) !== 'EADDRINUSE') throw error;
    return HttpServer.open({ ip, port: 0, ...settings });
  }
}
