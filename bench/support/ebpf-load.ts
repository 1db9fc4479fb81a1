import { setPriority } from 'node:os';
import { ANNOTATION_BALANCE, type EndpointSlice, type Service } from '../../src/api/index.ts';
import { attachedPrograms } from '../../src/kernel/bpf/index.ts';
import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { EbpfMode } from '../../src/modes/ebpf/index.ts';
import { FAMILIES } from '../../src/net/index.ts';
import { mapMemory } from './bpf-statistics.ts';
import { makeService, makeSlices, type Size } from './cluster.ts';
import { BenchGroup, NO_BPFFS } from './ebpf-lab.ts';
import { watchLoop } from './loop-watch.ts';
import { MapTimes } from './map-times.ts';
import { collectYoung } from './memory.ts';
import { NodeProxy } from './node-proxy.ts';

/** What new maps took, in milliseconds. */
export interface Renewal {
  /** Processor time of all of it. */
  readonly cpu: number;
  /** The part that wrote to the maps. */
  readonly maps: number;
}

/** What one change took, in microseconds. */
export interface ChangeTime {
  /** The part that wrote to the maps. */
  readonly maps: number;
  /** From the object to the maps. */
  readonly total: number;
}

export interface EbpfLoad {
  /** The first generation, which a start makes. */
  readonly first: Renewal;
  /** A complete new generation, because a Service needs session affinity. */
  readonly complete: Renewal;
  /** Of another complete one, because a Service needs least connections: the longest piece, as below. */
  readonly completeLongest: number;
  /** New maps for slots, because changes used them up. */
  readonly renewals: readonly Renewal[];
  /** Of others: milliseconds of processor time of the longest piece that held the event loop. */
  readonly longest: readonly number[];
  /** An endpoint came, or went. */
  readonly endpoints: readonly ChangeTime[];
  /** A Service came. */
  readonly services: readonly ChangeTime[];
  /** Bytes of each map in the kernel. */
  readonly memory: readonly (readonly [map: string, bytes: number])[];
}

/** Before other programs of the machine. */
const PRIORITY = -10;
const CHANGES = 200;
/** A Service with so many endpoints, whose changes use up slots. */
const FILLER = 60_000;
const FILLER_ENDPOINTS = 1000;
const NEW_SERVICES = 61_000;
const NEW_PARTS = 62_000;

/** Writes a cluster to ebpf mode without the network underneath, changes it, and lets it make new maps. */
export async function measureEbpfLoad({ size, renewals }: { size: Size; renewals: number }): Promise<EbpfLoad> {
  setPriority(PRIORITY);
  const namespace = NetworkNamespace.create();
  const group = new BenchGroup();
  const proxy = new NodeProxy(namespace, {
    open: (_, events) =>
      new EbpfMode({
        namespace,
        families: FAMILIES,
        sockets: 'all',
        cgroupRoot: group.path,
        bpffs: NO_BPFFS,
        // The only notice says that the programs are not pinned.
        events: { ...events, notice() {} },
      }),
  });
  const times = MapTimes.watch();
  try {
    load(proxy, size);
    collectYoung();
    const taken = proxy.take();
    const first = await timeRenewal(times, () => proxy.write(taken));
    const memory = [...mapMemory(group.fd, ['connect4', 'connect6'])];
    const endpoints = await timeEndpoints(proxy, size, times);
    const services = await timeServices(proxy, size, times);
    const moved = await timeRenewals(proxy, group, times, renewals);
    // Threads that still mark the garbage of all changes before would count, too.
    globalThis.gc?.();
    return { first, memory, endpoints, services, ...moved, ...(await timeComplete(proxy, times)) };
  } finally {
    await proxy.close();
    group.close();
    namespace.close();
  }
}

function load(proxy: NodeProxy, { services, endpoints }: Size): void {
  for (let i = 0; i < services; i++) {
    proxy.service(makeService(i));
    for (const slice of makeSlices(i, endpoints)) proxy.endpointSlice(slice);
  }
}

async function timeRenewal(times: MapTimes, work: () => Promise<void>): Promise<Renewal> {
  times.reset();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { cpu: (user + system) / 1000, maps: times.cpuMs };
}

/** Apart from `timeRenewal`, because watching the event loop takes time itself. */
async function longestPiece(work: () => Promise<void>): Promise<number> {
  const watch = watchLoop();
  await work();
  return watch.stop().longestCpuMs;
}

async function timeChange(proxy: NodeProxy, times: MapTimes, change: () => void): Promise<ChangeTime> {
  times.reset();
  const start = performance.now();
  change();
  await proxy.write(proxy.take());
  return { maps: times.ms * 1000, total: (performance.now() - start) * 1000 };
}

/** Services all over the cluster gain an endpoint, and lose it again. */
async function timeEndpoints(proxy: NodeProxy, { services, endpoints }: Size, times: MapTimes) {
  const spent: ChangeTime[] = [];
  for (let i = 0; i < CHANGES; i++) {
    const [slice] = makeSlices((i * 7919) % services, endpoints);
    if (!slice) continue;
    for (const changed of [withOneMore(slice), slice]) {
      spent.push(await timeChange(proxy, times, () => proxy.endpointSlice(changed)));
    }
  }
  return spent;
}

async function timeServices(proxy: NodeProxy, { endpoints }: Size, times: MapTimes) {
  const spent: ChangeTime[] = [];
  for (let i = NEW_SERVICES; i < NEW_SERVICES + CHANGES; i++) {
    const [service, slices] = [makeService(i), makeSlices(i, endpoints)];
    const add = () => {
      proxy.service(service);
      for (const slice of slices) proxy.endpointSlice(slice);
    };
    spent.push(await timeChange(proxy, times, add));
  }
  return spent;
}

/** Changes a large Service until the slots are used up, again and again. */
async function timeRenewals(proxy: NodeProxy, group: BenchGroup, times: MapTimes, count: number) {
  const filler = makeService(FILLER);
  proxy.service(filler);
  const slices = makeSlices(0, FILLER_ENDPOINTS).map(slice => ownedBy(filler, slice));
  for (const slice of slices) proxy.endpointSlice(slice);
  await proxy.write(proxy.take());
  const [slice] = slices;
  const renewals: Renewal[] = [];
  const longest: number[] = [];
  for (let i = 0; slice && longest.length < count; i++) {
    proxy.endpointSlice(i % 2 === 0 ? withOneMore(slice) : slice);
    const taken = proxy.take();
    const program = attachedPrograms(group.fd, 'connect4')[0];
    const work = () => proxy.write(taken);
    const isTimed = renewals.length === longest.length;
    const result = isTimed ? await timeRenewal(times, work) : await longestPiece(work);
    if (attachedPrograms(group.fd, 'connect4')[0] === program) continue;
    if (typeof result === 'number') longest.push(result);
    else renewals.push(result);
  }
  return { renewals, longest };
}

/** Each of these Services needs a part that the programs lack. */
async function timeComplete(proxy: NodeProxy, times: MapTimes) {
  const plain = makeService(NEW_PARTS);
  proxy.service({ ...plain, spec: { ...plain.spec, sessionAffinity: 'ClientIP' } });
  const sticky = proxy.take();
  const complete = await timeRenewal(times, () => proxy.write(sticky));
  const least = makeService(NEW_PARTS + 1);
  const annotations = { [ANNOTATION_BALANCE]: 'least-connections' };
  proxy.service({ ...least, metadata: { ...least.metadata, annotations } });
  const balanced = proxy.take();
  return { complete, completeLongest: await longestPiece(() => proxy.write(balanced)) };
}

function ownedBy({ metadata: { name, namespace } }: Service, slice: EndpointSlice): EndpointSlice {
  const labels = { 'kubernetes.io/service-name': name };
  return { ...slice, metadata: { ...slice.metadata, namespace, labels, name: `${name}-${slice.metadata.name}` } };
}

function withOneMore(slice: EndpointSlice): EndpointSlice {
  const [first] = slice.endpoints;
  return first ? { ...slice, endpoints: [...slice.endpoints, { ...first, addresses: ['10.200.0.1'] }] } : slice;
}
