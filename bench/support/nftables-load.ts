import { setTimeout as sleep } from 'node:timers/promises';
import type { EndpointSlice } from '../../src/api/index.ts';
import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { NftablesSocket } from '../../src/kernel/nftables/index.ts';
import { makeService, makeSlices, type Size } from './cluster.ts';
import { type Memory, memory, peakResident } from './memory.ts';
import { NodeProxy } from './node-proxy.ts';
import { CommitTimes } from './phases.ts';

/** Times are in milliseconds, and sizes in bytes. */
export interface LoadResult {
  readonly model: number;
  readonly diff: number;
  readonly encode: number;
  readonly kernel: number;
  readonly bytes: number;
  readonly gained: readonly number[];
  readonly lost: readonly number[];
  readonly replaced: readonly number[];
  readonly restart: number;
  readonly writtenByRestart: boolean;
  readonly peak: number;
  readonly before: Memory;
  readonly after: Memory;
}

const CHUNK = 1000;
const REPETITIONS = 40;
/** Time for the notifications that follow a change, before the next change is timed. */
const PAUSE_MS = 5;

/** Loads a cluster through model, planner and mode, changes it, and restarts. */
export async function measureLoad(size: Size): Promise<LoadResult> {
  const namespace = NetworkNamespace.create();
  const socket = NftablesSocket.open({ namespace });
  const times = CommitTimes.watch();
  const proxy = new NodeProxy(namespace);
  try {
    const before = memory();
    const cold = await load(proxy, size, times);
    const peak = peakResident();
    const after = memory();
    await proxy.settle();
    const gained = await timeChanges(proxy, size, 0, gain);
    const lost = await timeChanges(proxy, size, 1, lose);
    const replaced = await timeChanges(proxy, size, 2, replace);
    const restarted = await restart(proxy, socket);
    return { ...cold, gained, lost, replaced, ...restarted, peak, before, after };
  } finally {
    await proxy.close();
    socket.close();
    namespace.close();
  }
}

/** The bytes that a load, single changes and a restart send to the kernel. */
export async function countWork(size: Size): Promise<Readonly<Record<string, number>>> {
  const namespace = NetworkNamespace.create();
  const times = CommitTimes.watch();
  const proxy = new NodeProxy(namespace);
  const bytesOf = async (work: () => Promise<unknown>) => {
    await proxy.settle();
    times.reset();
    await work();
    return times.bytes;
  };
  const change = (slice: EndpointSlice) =>
    bytesOf(() => {
      proxy.endpointSlice(slice);
      return proxy.write(proxy.take());
    });
  try {
    const { bytes: cold } = await load(proxy, size, times);
    const [first, second, third] = [1, 2, 3].flatMap(i => makeSlices(i, size.endpoints).slice(0, 1));
    if (!first || !second || !third) throw new Error('the Services have no endpoints');
    return {
      'cold load': cold,
      'an endpoint comes': await change(gain(first)),
      'an endpoint goes': await change(lose(second)),
      'an endpoint is replaced': await change(replace(third)),
      restart: await bytesOf(async () => {
        await proxy.restart();
        await proxy.writeAll();
      }),
    };
  } finally {
    await proxy.close();
    namespace.close();
  }
}

/** Makes and hands over objects by the thousand. The time to make them does not count. */
async function load(proxy: NodeProxy, { services, endpoints }: Size, times: CommitTimes) {
  let model = 0;
  for (let first = 0; first < services; first += CHUNK) {
    const numbers = Array.from({ length: Math.min(CHUNK, services - first) }, (_, i) => first + i);
    const objects = numbers.map(i => ({ service: makeService(i), slices: makeSlices(i, endpoints) }));
    const start = performance.now();
    for (const { service, slices } of objects) {
      proxy.service(service);
      for (const slice of slices) proxy.endpointSlice(slice);
    }
    model += performance.now() - start;
  }
  const start = performance.now();
  const taken = proxy.take();
  const planned = performance.now();
  times.reset();
  await proxy.write(taken);
  const { encode, kernel, bytes } = times;
  const diff = performance.now() - planned - encode - kernel;
  return { model: model + planned - start, diff, encode, kernel, bytes };
}

type ChangeSlice = (slice: EndpointSlice) => EndpointSlice;

const gain: ChangeSlice = slice => {
  const [first] = slice.endpoints;
  return first ? { ...slice, endpoints: [...slice.endpoints, { ...first, addresses: ['10.200.0.1'] }] } : slice;
};

/** Removes the first endpoint, so that another endpoint must take its slot. */
const lose: ChangeSlice = slice => ({ ...slice, endpoints: slice.endpoints.slice(1) });

const replace: ChangeSlice = slice => {
  const [first, ...others] = slice.endpoints;
  return first ? { ...slice, endpoints: [{ ...first, addresses: ['10.200.0.1'] }, ...others] } : slice;
};

/** Times one change each of Services all over the cluster. Each kind of change uses other Services. */
async function timeChanges(proxy: NodeProxy, { services, endpoints }: Size, kind: number, change: ChangeSlice) {
  const spent: number[] = [];
  const step = Math.floor(services / REPETITIONS);
  for (let i = 0; i < REPETITIONS; i++) {
    const [slice] = makeSlices(i * step + kind, endpoints);
    if (!slice) continue;
    const changed = change(slice);
    const start = performance.now();
    proxy.endpointSlice(changed);
    await proxy.write(proxy.take());
    spent.push(performance.now() - start);
    await sleep(PAUSE_MS);
  }
  return spent;
}

async function restart(proxy: NodeProxy, socket: NftablesSocket) {
  await proxy.settle();
  const generation = socket.generation();
  await proxy.restart();
  const start = performance.now();
  await proxy.writeAll();
  return { restart: performance.now() - start, writtenByRestart: socket.generation() !== generation };
}
