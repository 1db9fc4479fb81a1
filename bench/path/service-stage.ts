import { Machine } from '../../src/demo/playground/machine.ts';
import type { Ip } from '../../src/net/index.ts';
import { ControlPlane } from '../../test/control-plane/control-plane.ts';
import { NODE } from '../../test/control-plane/node-object.ts';
import type { KubeObject } from '../../test/control-plane/objects.ts';
import { NODE_IP } from '../../test/support/namespaces.ts';
import { create, inParallel } from '../scale/api.ts';
import { clusterIp, SERVICE_PORT, serviceObject } from '../scale/objects.ts';
import type { SocketAddress } from '../support/socket-load.ts';
import type { Targets } from './operations.ts';
import { TCP_ENDPOINT, UDP_ENDPOINT } from './way-lab.ts';

/** A Service that no `fill` reaches. */
const UDP_INDEX = 60_000;
const UDP_PORT = 53;
/** Services that first packets go to. */
const MANY = 1000;
/** A prime number, so that neighbours do not follow one another. */
const STRIDE = 7919;

/** An API server on a machine of its own, and Services that all have the same endpoint. */
export class ServiceStage {
  readonly machine = Machine.create();
  #cluster: ControlPlane | undefined;
  #services = 0;

  async open(): Promise<void> {
    this.machine.addAddress(this.machine.link('lo'), NODE_IP, 32);
    this.#cluster = await ControlPlane.start({ namespace: this.machine.namespace });
    await this.#cluster.apply(NODE);
    await create(this.#cluster, udpService());
    await create(this.#cluster, sliceOf(UDP_INDEX, UDP_ENDPOINT, 'UDP'));
  }

  get cluster(): ControlPlane {
    if (!this.#cluster) throw new Error('the stage is not open');
    return this.#cluster;
  }

  /** Adds Services up to this number. */
  async fill(services: number): Promise<void> {
    const first = this.#services;
    await inParallel(Math.max(0, services - first), async i => {
      await create(this.cluster, serviceObject(first + i));
      await create(this.cluster, sliceOf(first + i, TCP_ENDPOINT, 'TCP'));
    });
    this.#services = Math.max(first, services);
  }

  targets(): Targets {
    const count = Math.min(MANY, this.#services);
    return {
      tcp: serviceAddress(Math.floor(this.#services / 2)),
      udp: { ip: clusterIp(UDP_INDEX) as Ip, port: UDP_PORT },
      many: Array.from({ length: count }, (_, i) => serviceAddress((i * STRIDE) % this.#services)),
    };
  }

  async close(): Promise<void> {
    await this.#cluster?.close();
    this.machine.close();
  }
}

function serviceAddress(index: number): SocketAddress {
  return { ip: clusterIp(index) as Ip, port: SERVICE_PORT };
}

function udpService(): KubeObject {
  const ports = [{ name: 'http', protocol: 'UDP', port: UDP_PORT, targetPort: UDP_ENDPOINT.port }];
  return { ...serviceObject(UDP_INDEX), spec: { clusterIP: clusterIp(UDP_INDEX), ports } };
}

function sliceOf(index: number, { ip, port }: SocketAddress, protocol: 'TCP' | 'UDP'): KubeObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `service-${index}-0`, labels: { 'kubernetes.io/service-name': `service-${index}` } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port, protocol }],
    endpoints: [{ addresses: [ip], conditions: { ready: true }, nodeName: NODE.metadata.name }],
  };
}
