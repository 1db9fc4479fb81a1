import type { Program } from '../control-plane/program.ts';
import { dualStackService, service, slice } from '../e2e/objects.ts';
import { NODE_IP, NODE_IP6 } from '../support/namespaces.ts';
import { lostAttempts } from './lost-attempts.mjs';
import type { Polled, SwapStage } from './swap-stage.ts';

const WEB = ['10.96.7.1', 'fd00:10:96::7:1'] as const;
const STICKY = '10.96.7.2';
const GUARDED = '203.0.113.7';
const REMEMBERED = '10.96.7.5';
const PODS = ['10.244.1.71', '10.244.1.72'] as const;
const PODS6 = ['fd00:10:244:1::71', 'fd00:10:244:1::72'] as const;
const NODE_PORT = 30071;

/** Services of several kinds whose endpoints change, and clients that call them all the time. */
export class SwapTraffic {
  readonly #stage: SwapStage;
  #pollers: readonly Program[] = [];

  private constructor(stage: SwapStage) {
    this.#stage = stage;
  }

  static async prepare(stage: SwapStage): Promise<SwapTraffic> {
    for (const pod of [...PODS, ...PODS6]) await stage.addPod(pod);
    const { controlPlane } = stage;
    const ports = [{ name: 'http', port: 80, targetPort: 8080, nodePort: NODE_PORT }];
    const guard = { type: 'LoadBalancer', loadBalancerSourceRanges: ['192.168.0.0/24'] };
    const objects = [
      dualStackService('web', WEB, { type: 'NodePort', ports }),
      service('sticky', STICKY, { sessionAffinity: 'ClientIP' }),
      { ...service('guarded', '10.96.7.3', guard), status: { loadBalancer: { ingress: [{ ip: GUARDED }] } } },
      service('idle', '10.96.7.4'),
      service('remembered', REMEMBERED, { sessionAffinity: 'ClientIP' }),
      slice('remembered-1', PODS),
    ];
    for (const object of objects) await controlPlane.apply(object);
    return new SwapTraffic(stage);
  }

  /** Leads the Services, except `remembered`, to the first or to the second pod. Both pods always answer. */
  async setEndpoints(index: 0 | 1): Promise<void> {
    const { controlPlane } = this.#stage;
    for (const name of ['web-1', 'sticky-1', 'guarded-1']) await controlPlane.apply(slice(name, [PODS[index]]));
    await controlPlane.apply(slice('web-2', [PODS6[index]]));
  }

  async untilProgrammed(index: 0 | 1): Promise<void> {
    const stage = this.#stage;
    for (const ip of [WEB[0], STICKY, GUARDED]) await stage.untilAnsweredBy(ip, 80, PODS[index]);
    await stage.untilAnsweredBy(WEB[1], 80, PODS6[index]);
    await stage.untilAnsweredBy(NODE_IP, NODE_PORT, PODS[index]);
  }

  async start(rate: number): Promise<void> {
    const { network } = this.#stage;
    const inside = [`web=${WEB[0]}`, `web6=${WEB[1]}`, `sticky=${STICKY}`, `remembered=${REMEMBERED}`];
    const outside = [`nodeport=${NODE_IP}:${NODE_PORT}`, `nodeport6=${NODE_IP6}:${NODE_PORT}`, `guarded=${GUARDED}:80`];
    this.#pollers = [
      await this.#stage.poll(network.node, rate, ...inside.map(target => `${target}:80`)),
      await this.#stage.poll(network.host('ext'), rate, ...outside),
    ];
  }

  /** How often a client outside had to send the first packet of a connection again. */
  get lostOutside(): number {
    return lostAttempts(this.#stage.network.host('ext'));
  }

  /** Ends the clients. Returns the connections that failed, how many packets they lost, and the counts of all. */
  async stop(): Promise<{
    readonly failures: readonly string[];
    readonly lost: number;
    readonly counts: readonly Polled[];
  }> {
    const pollers = this.#pollers;
    this.#pollers = [];
    const summaries = await Promise.all(pollers.map(poller => this.#stage.endPolling(poller)));
    return {
      failures: pollers.flatMap(({ lines }) => lines.slice(1, -1)),
      lost: summaries.reduce((sum, { lost }) => sum + lost, 0),
      counts: summaries.flatMap(({ targets }) => targets),
    };
  }
}
