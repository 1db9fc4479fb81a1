import { Agent, type ClientRequestArgs, request as httpRequest, type IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { connectTcp } from '../../src/kernel/sockets/index.ts';
import { errorText } from '../../src/lib/error-text.ts';
import type { Ip } from '../../src/net/index.ts';

const TIMEOUT_MS = 10_000;

export interface Endpoint {
  readonly namespace: NetworkNamespace;
  readonly ip: Ip;
  readonly port: number;
  /** The only CA that the client trusts. Without one, the client uses plain HTTP. */
  readonly ca?: string | undefined;
}

export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends requests from a network namespace. Keeps connections open for the next request. */
export class HttpClient {
  readonly #endpoint: Endpoint;
  readonly #agent: Agent;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    this.#agent = new NamespaceAgent(endpoint);
  }

  async request({ method, path, headers = {}, body }: HttpRequest): Promise<HttpAnswer> {
    const { ip: host, port } = this.#endpoint;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const options = { host, port, method, path, headers, signal, agent: this.#agent };
        httpRequest(options, resolve).on('error', reject).end(body);
      });
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      return { status: response.statusCode ?? 0, text };
    } catch (error) {
      const reason = signal.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : errorText(error);
      throw new Error(`${method} ${path}: ${reason}`, { cause: error });
    }
  }

  close(): void {
    this.#agent.destroy();
  }
}

class NamespaceAgent extends Agent {
  readonly #endpoint: Endpoint;

  constructor(endpoint: Endpoint) {
    super({ keepAlive: true });
    this.#endpoint = endpoint;
  }

  override createConnection(
    _options: ClientRequestArgs,
    callback: (error: Error | null, connection: Duplex) => void = () => undefined,
  ): undefined {
    const { namespace, ip, port, ca } = this.#endpoint;
    connectTcp(namespace, ip, port, { signal: AbortSignal.timeout(TIMEOUT_MS) }).then(
      socket => callback(null, ca === undefined ? socket : connectTls({ socket, host: ip, ca })),
      // The callback's type requires a connection also for an error.
      error => callback(error, new Socket()),
    );
    return undefined;
  }
}
