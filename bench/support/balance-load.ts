import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ANNOTATION_BALANCE, type EndpointSlice } from '../../src/api/index.ts';
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
  /** The share of one endpoint becomes a half, as in slow start. */
  readonly shared: readonly Change[];
}

const REPETITIONS = 40;
const PAUSE_MS = 5;

/** Loads a cluster whose Services are all balanced in the same way, and changes one Service after the other. */
export async function measureBalance({ size, choice }: { size: Size; choice: Choice }): Promise<BalanceLoad> {
  const namespace = NetworkNamespace.create();
  const node = new BalancingNode(namespace);
  try {
    const slab = slabBytes();
    const { ms: cold, kernelMs: kernel, bytes } = await node.change(() => load(node.model, size, choice));
    const grown = slabBytes() - slab;
    await node.settle();
    const gained = await overCluster(size, 0, i => node.change(() => node.model.setEndpointSlice(gain(i, size))));
    const lost = await overCluster(size, 1, i => node.change(() => node.model.setEndpointSlice(lose(i, size))));
    const shared = await overCluster(size, 2, i => node.change(() => node.halve(i)));
    return { cold, kernel, bytes, slab: grown, gained, lost, shared };
  } finally {
    await node.close();
    namespace.close();
  }
}

/** Model, planner and nftables mode for IPv4. */
class BalancingNode {
  readonly model = new Model({ family: 'IPv4', nodeName: 'node-1', startedAt: 0, report: () => {} });
  readonly #halved = new Set<string>();
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
    this.#planner = new Planner(this.model, options, () => {}, halvedShares(this.#halved));
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

  /** The first endpoint of a Service gets half its share. */
  halve(i: number): void {
    const { namespace, name } = makeService(i).metadata;
    this.#halved.add(`${namespace}/${name}`);
    this.#again.add(`${namespace}/${name}`);
  }

  settle(): Promise<void> {
    return this.#mode.settle();
  }

  close(): Promise<void> {
    return this.#mode.close();
  }
}

function load(model: Model, { services, endpoints }: Size, choice: Choice): void {
  for (let i = 0; i < services; i++) {
    const service = makeService(i);
    const annotations: Record<string, string> = choice === 'none' ? {} : { [ANNOTATION_BALANCE]: choice };
    model.setService({ ...service, metadata: { ...service.metadata, annotations } });
    for (const slice of makeSlices(i, endpoints)) model.setEndpointSlice(slice);
  }
}

async function overCluster({ services }: Size, kind: number, work: (i: number) => Promise<Change>): Promise<Change[]> {
  const changes: Change[] = [];
  const step = Math.floor(services / REPETITIONS);
  for (let i = 0; i < REPETITIONS; i++) changes.push(await work(i * step + kind));
  return changes;
}

/** The first endpoint of some Services has half its share. `services` are `ns/name`. */
function halvedShares(services: ReadonlySet<string>): LiveEndpoints {
  const halved = {
    share: ({ ip }: Endpoint) => (Number(ip.split('.')[3]) % 5 === 0 ? 0.5 : 1),
    isEjected: () => false,
  };
  return { of: id => (services.has(id.split(':')[0] ?? '') ? halved : undefined) };
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
