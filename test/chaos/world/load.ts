import { setTimeout as delay } from 'node:timers/promises';
import { errorText } from '../../../src/lib/error-text.ts';
import type { ControlPlane } from '../../control-plane/control-plane.ts';
import { NODE_IP } from '../../support/namespaces.ts';
import { Random } from '../schedule/random.ts';
import type { EventLog } from './event-log.ts';
import type { Ledger } from './ledger.ts';
import { ALL, CHANGED, PAIRS, PODS, type ServiceSpec, STABLE, serviceObject, sliceObject } from './services.ts';

const PACE_MS = 80;
const RETRY_MS = 500;

interface Item {
  readonly metadata: { readonly name: string };
  readonly endpoints?: readonly { readonly addresses: readonly string[] }[] | null;
}

/** Changes Services and EndpointSlices through the API all the time, and notes in the ledger what the API server has. */
export class Load {
  readonly #cluster: ControlPlane;
  readonly #ledger: Ledger;
  readonly #log: EventLog;
  readonly #random: Random;
  /** The pods of each slice. Undefined if the Service does not exist. */
  readonly #pods = new Map<string, readonly string[]>();
  readonly #existing = new Set<string>();
  #pauses = 0;
  #isClosed = false;
  #work: Promise<void> = Promise.resolve();
  #loop: Promise<void> | undefined;
  changes = 0;

  constructor(cluster: ControlPlane, ledger: Ledger, log: EventLog, seed: number) {
    this.#cluster = cluster;
    this.#ledger = ledger;
    this.#log = log;
    this.#random = new Random(seed);
  }

  /** Creates all Services, with endpoints. */
  async prepare(): Promise<void> {
    for (const spec of [...STABLE, ...PAIRS.map(([one]) => one), ...CHANGED]) {
      await this.#create(spec);
      await this.#setPods(spec, spec.isStable ? PODS.slice(-4) : PODS.slice(0, 3));
    }
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** Resolves when no change is under way. Each `pause` needs a `resume`. */
  async pause(): Promise<void> {
    this.#pauses++;
    await this.#work;
  }

  resume(): void {
    this.#pauses--;
  }

  /**
   * Changes a Service and its endpoints, so that a proxy that knows all changes differs from one that does not. The load
   * must be paused.
   */
  async mark(): Promise<void> {
    const [pair] = PAIRS;
    if (pair) await this.#ledger.whileIncomplete(() => this.#swap(pair, PODS.slice(0, 2)));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#loop;
  }

  /** Reads everything from the API server, which may have gone back to an older state after `since`. */
  async readBack(since: number): Promise<void> {
    const list = async (path: string) => {
      const { status, json } = await this.#cluster.request('GET', path);
      if (status !== 200) throw new Error(`GET ${path}: status ${status}`);
      return (json as { readonly items: readonly Item[] }).items;
    };
    const services = await list('/api/v1/namespaces/default/services');
    const slices = await list('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices');
    this.#existing.clear();
    this.#pods.clear();
    for (const { metadata } of services) this.#existing.add(metadata.name);
    for (const { metadata, endpoints } of slices) {
      this.#pods.set(
        metadata.name.replace(/-1$/, ''),
        (endpoints ?? []).flatMap(({ addresses }) => addresses),
      );
    }
    for (const spec of ALL) this.#note(spec, since);
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      if (this.#pauses === 0) {
        this.#work = this.#changeOnce();
        await this.#work;
      }
      await delay(PACE_MS);
    }
  }

  async #changeOnce(): Promise<void> {
    const began = now();
    await this.#ledger.whileIncomplete(async () => {
      try {
        await this.#change();
        this.changes++;
      } catch (error) {
        if (this.#isClosed) return;
        this.#log.note(`a change through the API failed: ${errorText(error)}`);
        await delay(RETRY_MS);
        await this.readBack(began).catch(() => undefined);
      }
    });
  }

  async #change(): Promise<void> {
    const random = this.#random;
    if (random.chance(0.1)) {
      await this.#swap(random.pick(PAIRS), this.#somePods());
      return;
    }
    const spec = random.pick(CHANGED);
    if (!this.#existing.has(spec.name)) await this.#create(spec);
    else if (random.chance(0.05)) await this.#delete(spec);
    else await this.#setPods(spec, this.#somePods());
  }

  /** Deletes the one Service of a pair, and creates the other one with the same cluster IP. */
  async #swap([one, other]: readonly [ServiceSpec, ServiceSpec], pods: readonly string[]): Promise<void> {
    const [former, next] = this.#existing.has(one.name) ? [one, other] : [other, one];
    await this.#delete(former);
    await this.#create(next);
    await this.#setPods(next, pods);
  }

  #somePods(): readonly string[] {
    return this.#random.shuffle(PODS).slice(0, this.#random.between(0, 4));
  }

  async #create(spec: ServiceSpec): Promise<void> {
    const sentAt = now();
    await this.#cluster.apply(serviceObject(spec));
    this.#existing.add(spec.name);
    this.#note(spec, sentAt);
  }

  async #delete(spec: ServiceSpec): Promise<void> {
    const sentAt = now();
    await this.#cluster.delete(serviceObject(spec));
    this.#existing.delete(spec.name);
    this.#note(spec, sentAt);
  }

  async #setPods(spec: ServiceSpec, pods: readonly string[]): Promise<void> {
    const sentAt = now();
    await this.#cluster.apply(sliceObject(spec, pods));
    this.#pods.set(spec.name, pods);
    this.#note(spec, sentAt);
  }

  #note(changed: ServiceSpec, sentAt: number): void {
    const owner = ALL.find(({ name, clusterIP }) => clusterIP === changed.clusterIP && this.#existing.has(name));
    const answers = owner ? (this.#pods.get(owner.name) ?? []).map(pod => `${pod}:${owner.targetPort}`) : [];
    const ofSlice = (this.#pods.get(changed.name) ?? []).map(pod => `${pod}:${changed.targetPort}`);
    this.#ledger.changeSlice(changed.targetPort, ofSlice, sentAt, now());
    for (const address of addressesOf(changed)) {
      this.#ledger.change(address, answers, sentAt, now(), owner?.targetPort);
    }
  }
}

export function addressesOf({ clusterIP, nodePort }: ServiceSpec): readonly string[] {
  return [`${clusterIP}:80`, ...(nodePort === undefined ? [] : [`${NODE_IP}:${nodePort}`])];
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
