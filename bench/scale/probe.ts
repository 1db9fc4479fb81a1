import { setTimeout as sleep } from 'node:timers/promises';
import type { Ip } from '../../src/net/index.ts';
import type { ControlPlane } from '../../test/control-plane/control-plane.ts';
import type { KubeObject } from '../../test/control-plane/objects.ts';
import type { SocketAddress } from '../support/socket-load.ts';
import { replace } from './api.ts';
import { CHANGE_PAUSE_MS, type Connector } from './connector.ts';
import { clusterIp, SERVICE_PORT, serviceObject, sliceObject } from './objects.ts';
import { sharedMs } from './running-proxy.ts';

/** A pod that no other Service has. */
const POD = 7_000_000;

/** What one change took until the Service was connectable, in milliseconds. */
export interface Latency {
  /** From the moment the request to the API server was sent. */
  readonly fromRequest: number;
  /** From the API server's answer. It is 0 if the proxy was faster than the answer. */
  readonly fromAnswer: number;
}

/** A Service that gains its only endpoint again and again. A change is done when a connection succeeds. */
export class Probe {
  readonly address: SocketAddress;
  readonly #cluster: ControlPlane;
  readonly #connector: Connector;
  readonly #index: number;
  readonly #settleMs: number;

  /** `index`: the number of a Service that the cluster does not have otherwise. */
  constructor(cluster: ControlPlane, connector: Connector, index: number, settleMs: number) {
    this.#cluster = cluster;
    this.#connector = connector;
    this.#index = index;
    this.#settleMs = settleMs;
    this.address = { ip: clusterIp(index) as Ip, port: SERVICE_PORT };
  }

  objects(): readonly KubeObject[] {
    return [serviceObject(this.#index), this.#slice(1)];
  }

  /** Removes the endpoint, and waits until connections are refused and the proxy has settled. */
  async prepare(settleMs = this.#settleMs): Promise<void> {
    await replace(this.#cluster, this.#slice(0));
    await this.#connector.untilRefused(this.address);
    await sleep(settleMs);
  }

  /** After `prepare`. */
  async gain(pauseMs = CHANGE_PAUSE_MS): Promise<Latency> {
    const connected = this.#connector.untilAllConnect([this.address], pauseMs);
    const requested = sharedMs();
    await replace(this.#cluster, this.#slice(1));
    const answered = sharedMs();
    const at = await connected;
    return { fromRequest: at - requested, fromAnswer: Math.max(0, at - answered) };
  }

  #slice(count: number): KubeObject {
    return sliceObject(this.#index, 0, POD, count);
  }
}
