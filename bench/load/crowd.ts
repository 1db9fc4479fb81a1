import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type ApiClient, createApiClient } from '../../src/client/index.ts';
import type { InformerReporter } from '../../src/client/informer/index.ts';
import { ClusterSource } from '../../src/source/index.ts';
import { NODE } from '../../test/control-plane/node-object.ts';
import { sharedMs } from '../scale/running-proxy.ts';
import { answerQuestions } from '../support/role.ts';
import { resourceOf } from './exchange.ts';
import { PROTOBUF } from './one-proxy.ts';

export const CROWD = 'crowd';

export type CrowdQuestion =
  | { readonly name: 'start'; readonly proxies: number; readonly kubeconfig: string }
  | { readonly name: 'progress' }
  | { readonly name: 'state' }
  | { readonly name: 'forget' };

/** One request of a proxy. */
export interface Attempt {
  /** The same for all requests of one proxy for one resource. */
  readonly sender: string;
  readonly sentAt: number;
  /** When the answer began, or the request failed. */
  readonly endedAt: number;
  /** The status, or 0 if there was no answer. */
  readonly status: number;
}

export interface CrowdProgress {
  /** Proxies that have all their objects. */
  readonly synced: number;
  /** Changes that all proxies together received since the last `forget`. */
  readonly changes: number;
}

/** Times are milliseconds of the clock that all processes share. */
export interface CrowdState {
  readonly startedAt: number;
  /** When each proxy had all its objects. */
  readonly syncedAt: readonly number[];
  readonly attempts: readonly Attempt[];
  /** The greatest delay of the event loop of this process, in milliseconds. */
  readonly greatestDelayMs: number;
}

const SILENT: InformerReporter = {
  watchFailed() {},
  optionalUnavailable() {},
  watchStalled() {},
  watchRecovered() {},
  objectUnusable() {},
  objectRecovered() {},
};

/** In its own process: many proxies without rules. Each has its own client, connection and copies of the objects. */
export function playCrowd(): void {
  const crowd = new Crowd();
  answerQuestions((question: CrowdQuestion) => {
    if (question.name === 'start') return crowd.start(question.proxies, question.kubeconfig);
    if (question.name === 'forget') return crowd.forget();
    if (question.name === 'progress') return crowd.progress();
    return crowd.state();
  });
}

class Crowd {
  readonly #delay = monitorEventLoopDelay({ resolution: 10 });
  #startedAt = 0;
  #syncedAt: number[] = [];
  #attempts: Attempt[] = [];
  #changes = 0;

  start(proxies: number, kubeconfig: string): void {
    this.#delay.enable();
    this.#startedAt = sharedMs();
    for (let i = 0; i < proxies; i++) this.#startOne(i, kubeconfig);
  }

  forget(): void {
    this.#attempts = [];
    this.#changes = 0;
    this.#delay.reset();
  }

  progress(): CrowdProgress {
    return { synced: this.#syncedAt.length, changes: this.#changes };
  }

  state(): CrowdState {
    return {
      startedAt: this.#startedAt,
      syncedAt: this.#syncedAt,
      attempts: this.#attempts,
      greatestDelayMs: this.#delay.max / 1e6,
    };
  }

  /** As the program does: first the Node, then the other resources. */
  #startOne(number: number, kubeconfig: string): void {
    const clientConnection = { acceptContentTypes: '', contentType: PROTOBUF, qps: 5, burst: 10 };
    const api = createApiClient({ kubeconfig, clientConnection });
    const nodeName = NODE.metadata.name;
    const client = this.#observed(api, number);
    const source = new ClusterSource({ client, nodeName, accept: api.accept(), resyncMs: 0, report: SILENT });
    const changed = () => {
      this.#changes++;
    };
    const startOthers = () =>
      void source.start({
        nodeChanged: changed,
        serviceCidrChanged: changed,
        serviceChanged: changed,
        endpointSliceChanged: changed,
        synced: () => this.#syncedAt.push(sharedMs()),
        problem() {},
      });
    source.node.addHandler({ changed() {}, synced: startOthers });
    source.node.start();
  }

  /** The same client. It notes all requests. */
  #observed(client: ApiClient, number: number): ApiClient {
    return {
      request: async request => {
        const sender = `${number} ${resourceOf(request.path)}`;
        const sentAt = sharedMs();
        let status = 0;
        try {
          const response = await client.request(request);
          status = response.status;
          return response;
        } finally {
          this.#attempts.push({ sender, sentAt, endedAt: sharedMs(), status });
        }
      },
      close: () => client.close(),
    };
  }
}
