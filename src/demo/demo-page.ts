import type { Server } from 'node:net';
import { inspect, inspectionHandler, type LiveHub, type ObservedConnection } from '../inspect/index.ts';
import type { Listen } from '../observe/http/index.ts';
import {
  type PageAddress,
  PageServer,
  pageHandler,
  servedFromPlans,
  serviceFromPlans,
  traceRoute,
} from '../page/index.ts';
import type { Demo } from './demo.ts';

export interface DemoPageOptions {
  readonly address: PageAddress;
  /** Listens already, in the machine's network namespace, if this process is in another one. */
  readonly listener?: Server | undefined;
  /** The version of Pointsman. */
  readonly version: string;
}

/** Many questions of a round end at the same time. */
const SEND_MS = 250;

/** The operator's page about the proxy of the demo. */
export class DemoPage {
  readonly url: string;
  readonly #server: PageServer;
  readonly #live: LiveHub;
  #observed: ObservedConnection[] = [];
  #timer: NodeJS.Timeout | undefined;

  private constructor(url: string, server: PageServer, live: LiveHub) {
    this.url = url;
    this.#server = server;
    this.#live = live;
  }

  /** Rejects if the page cannot listen on its address. */
  static async open(demo: Demo, { address, listener, version }: DemoPageOptions): Promise<DemoPage> {
    const inspected = demo.inspected(version);
    const { routes, live } = inspect(inspected);
    const handle = pageHandler({
      api: inspectionHandler({ routes }),
      // The cluster of the demo is nobody's production.
      info: { version, allows: ['probe', 'trace'], view: 'node', command: 'kube-proxy' },
      allowFlag: '',
      routes: [
        traceRoute({
          findService: serviceFromPlans(inspected),
          isServed: servedFromPlans(inspected),
          namespace: demo.namespace,
        }),
      ],
    });
    return new Promise((resolve, reject) => {
      const server = new PageServer({
        address,
        hostNames: [],
        handle,
        ...(listener && { listen: listenWith(listener) }),
        hardFail: true,
        onListen: url => resolve(new DemoPage(url, server, live)),
        onError: reject,
        onFileError: reject,
      });
      void server.start();
    });
  }

  /** Shows connections that the demo made. */
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

function listenWith(listener: Server): Listen {
  return async (_, onConnection) => listener.on('connection', onConnection);
}
