import { errorText } from '../lib/error-text.ts';
import { FAMILIES } from '../net/index.ts';
import { endpointsOf } from '../plan/index.ts';
import type { ProxyState } from '../proxy/index.ts';
import { EchoServer, type ProbeProtocol } from './playground/index.ts';
import type { PodAddress, Pods } from './pods.ts';

/** Where an echo server runs. */
interface ServerAddress extends PodAddress {
  readonly port: number;
  readonly protocol: ProbeProtocol;
}

/**
 * One echo server for every endpoint, also for endpoints that the plan does not use: the demo must notice when a
 * connection wrongly goes to one of them.
 */
export class EchoServers {
  readonly #pods: Pick<Pods, 'ensure'>;
  readonly #servers = new Map<string, EchoServer>();
  readonly #problems = new Map<string, string>();

  constructor(pods: Pick<Pods, 'ensure'>) {
    this.#pods = pods;
  }

  /** The endpoints at which no echo server can run, and why. */
  get problems(): readonly string[] {
    return [...this.#problems.values()];
  }

  /** Starts and stops echo servers until every endpoint of the state has one. */
  async serve(state: ProxyState): Promise<void> {
    const wanted = new Map([...endpoints(state)].map(endpoint => [keyOf(endpoint), endpoint]));
    const unwanted = [...this.#servers].filter(([key]) => !wanted.has(key));
    for (const [key, server] of unwanted) {
      this.#servers.delete(key);
      await server.close();
    }
    for (const key of this.#problems.keys()) if (!wanted.has(key)) this.#problems.delete(key);
    for (const [key, endpoint] of wanted) if (!this.#servers.has(key)) await this.#start(key, endpoint);
  }

  async close(): Promise<void> {
    const servers = [...this.#servers.values()];
    this.#servers.clear();
    await Promise.all(servers.map(server => server.close()));
  }

  async #start(key: string, address: ServerAddress): Promise<void> {
    const { ip, port, protocol } = address;
    try {
      this.#servers.set(key, await EchoServer.start(this.#pods.ensure(address), ip, port, protocol));
      this.#problems.delete(key);
    } catch (error) {
      this.#problems.set(key, `no echo server can run at ${key}: ${errorText(error)}`);
    }
  }
}

function* endpoints(state: ProxyState): Generator<ServerAddress> {
  for (const family of FAMILIES) {
    for (const service of state.family(family).model.services()) {
      for (const servicePort of service.ports) {
        const { protocol } = servicePort;
        if (protocol === 'SCTP') continue;
        for (const { ip, port, nodeName, isLocal } of endpointsOf(service, servicePort)) {
          yield { ip, port, protocol, nodeName, isLocal };
        }
      }
    }
  }
}

function keyOf({ ip, port, protocol }: ServerAddress): string {
  return `${ip} ${protocol} port ${port}`;
}
