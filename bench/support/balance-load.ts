import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ANNOTATION_BALANCE, ANNOTATION_WEIGHTS, type EndpointSlice } from '../../src/api/index.ts';
import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { type Algorithm, type Endpoint, Model } from '../../src/model/index.ts';
import { SILENT_EVENTS } from '../../src/modes/mode.ts';
import { NftablesMode } from '../../src/modes/nftables/index.ts';
import type { Ip } from '../../src/net/index.ts';
import { type LiveEndpoints, Planner } from '../../src/plan/index.ts';
import { modeSettingsFor } from '../../test/support/mode-harness.ts';
import { makeService, makeSlices, type Size } from './cluster.ts';
import { CommitTimes } from './phases.ts';

/** `none`: the Services choose nothing. */
export type Choice = Algorithm | 'none';

/** Times are in milliseconds, and sizes in bytes. */
export interface Change {
  readonly ms: number;
  readonly kernelMs: number;
  readonly bytes: number;
}

export interface BalanceLoad {
  readonly cold: number;
  readonly kernel: number;
  readonly bytes: number;
  /** What the kernel's slabs grew by. Other programs of the machine change it too. */
  readonly slab: number;
  readonly gained: readonly Change[];
  readonly lost: readonly Change[];
  /** One endpoint gets a part of its share. */
  readonly shared: readonly Change[];
}

const REPETITIONS = 40;
const KINDS = 3;
/** As in slow start. It leads to numbers of slots that no other Service has. */
const SHARE = 0.7;
const PAUSE_MS = 5;

export interface BalanceTask {
  readonly size: Size;
  readonly choice: Choice;
  /** 50: one of fifty Services chooses, and the others do not. */
  readonly every: number;
}

/** Loads a cluster, and changes the Services that choose one after the other. */
export async function measureBalance({ size, choice, every }: BalanceTask): Promise<BalanceLoad> {
  const namespace = NetworkNamespace.create();
  const node = new BalancingNode(namespace);
  try {
    const slab = slabBytes();
    const { ms: cold, kernelMs: kernel, bytes } = await node.change(() => load(node.model, size, choice, every));
    const grown = slabBytes() - slab;
    await node.settle();
    const gained = await overCluster(size, every, 0, i =>
      node.change(() => node.model.setEndpointSlice(gain(i, size))),
    );
    const lost = await overCluster(size, every, 1, i => node.change(() => node.model.setEndpointSlice(lose(i, size))));
    const shared = await overCluster(size, every, 2, i => node.change(() => node.lower(i)));
    return { cold, kernel, bytes, slab: grown, gained, lost, shared };
  } finally {
    await node.close();
    namespace.close();
  }
}

/** Model, planner and nftables mode for IPv4. */
class BalancingNode {
  readonly model = new Model({ family: 'IPv4', nodeName: 'node-1', startedAt: 0, report: () => {} });
  readonly #partial = new Set<string>();
  readonly #again = new Set<string>();
  readonly #times = CommitTimes.watch();
  readonly #planner: Planner;
  readonly #mode: NftablesMode;

  constructor(namespace: NetworkNamespace) {
    const options = {
      node: { name: 'node-1', zone: '' },
      nodeIP: '192.168.0.2' as Ip,
      localDetector: undefined,
      masqueradeAll: false,
      allowExternalIPs: true,
    };
    this.#planner = new Planner(this.model, options, () => {}, partialShares(this.#partial));
    this.#mode = new NftablesMode({ namespace, events: SILENT_EVENTS });
  }

  async change(work: () => void): Promise<Change> {
    await sleep(PAUSE_MS);
    this.#times.reset();
    const start = performance.now();
    work();
    const plans = this.#planner.update(this.model.take(), undefined, this.#again);
    this.#again.clear();
    await this.#mode.sync('IPv4', plans, modeSettingsFor('IPv4', { syncPeriodMs: 3_600_000 }));
    return { ms: performance.now() - start, kernelMs: this.#times.kernel, bytes: this.#times.bytes };
  }

  /** One endpoint of a Service gets a part of its share. */
  lower(i: number): void {
    const { namespace, name } = makeService(i).metadata;
    this.#partial.add(`${namespace}/${name}`);
    this.#again.add(`${namespace}/${name}`);
  }

  settle(): Promise<void> {
    return this.#mode.settle();
  }

  close(): Promise<void> {
    return this.#mode.close();
  }
}

function load(model: Model, { services, endpoints }: Size, choice: Choice, every: number): void {
  for (let i = 0; i < services; i++) {
    const service = makeService(i);
    const annotations = i % every === 0 ? annotationsOf(choice, i, endpoints) : {};
    model.setService({ ...service, metadata: { ...service.metadata, annotations } });
    for (const slice of makeSlices(i, endpoints)) model.setEndpointSlice(slice);
  }
}

function annotationsOf(choice: Choice, i: number, endpoints: number): Record<string, string> {
  if (choice === 'none') return {};
  const [first] = makeSlices(i, endpoints)[0]?.endpoints ?? [];
  const weights = choice === 'weighted' ? { [ANNOTATION_WEIGHTS]: `${first?.addresses[0]}=3` } : {};
  return { [ANNOTATION_BALANCE]: choice, ...weights };
}

/** Times one change each of Services that choose, all over the cluster. Each kind of change uses other Services. */
async function overCluster(
  { services }: Size,
  every: number,
  kind: number,
  work: (i: number) => Promise<Change>,
): Promise<Change[]> {
  const changes: Change[] = [];
  const choosing = Math.floor(services / every);
  const repetitions = Math.min(REPETITIONS, Math.floor(choosing / KINDS));
  const step = Math.floor(choosing / repetitions);
  for (let i = 0; i < repetitions; i++) changes.push(await work((i * step + kind) * every));
  return changes;
}

/** One endpoint of some Services has a part of its share. `services` are `ns/name`. */
function partialShares(services: ReadonlySet<string>): LiveEndpoints {
  const port = {
    share: ({ ip }: Endpoint) => (Number(ip.split('.')[3]) % 5 === 0 ? SHARE : 1),
    isInSlowStart: ({ ip }: Endpoint) => Number(ip.split('.')[3]) % 5 === 0,
    isEjected: () => false,
  };
  return { of: id => (services.has(id.split(':')[0] ?? '') ? port : undefined) };
}

function firstSlice(i: number, { endpoints }: Size): EndpointSlice {
  const [slice] = makeSlices(i, endpoints);
  if (!slice) throw new Error('a Service needs an endpoint');
  return slice;
}

function gain(i: number, size: Size): EndpointSlice {
  const slice = firstSlice(i, size);
  return { ...slice, endpoints: [...slice.endpoints, ...slice.endpoints.slice(0, 1).map(moved)] };
}

function moved(endpoint: EndpointSlice['endpoints'][number]): EndpointSlice['endpoints'][number] {
  return { ...endpoint, addresses: ['10.200.0.1'] };
}

function lose(i: number, size: Size): EndpointSlice {
  const slice = firstSlice(i, size);
  return { ...slice, endpoints: slice.endpoints.slice(1) };
}

function slabBytes(): number {
  const [, kibibytes] = /^Slab:\s*(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}
