// Measures what a running proxy answers about itself, with very many Services: the list of Services over the socket (time
// to the first row and to the last, the longest time that the event loop was held, memory), and what recording the history
// costs (at the start, for an event, for a change) and takes.
//   --size 44125x1   Services x endpoints of each
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type EndpointSlice, objectKey, type Service } from '../src/api/index.ts';
import { History } from '../src/history/index.ts';
import { inspectionHandler, readProxyLines, SocketKeeper, servicesRoute } from '../src/inspect/index.ts';
import { ConnectionTable } from '../src/observe/http/index.ts';
import { DEFAULT_PLAN_SETTINGS, type ServicePortPlan } from '../src/plan/index.ts';
import { ProxyState } from '../src/proxy/index.ts';
import { factsFrom } from '../test/support/facts.ts';
import { performTaskOr, runInChild } from './support/child.ts';
import { makeService, makeSlices, parseSize, type Size, sizeName } from './support/cluster.ts';
import { COMMON_FLAGS } from './support/flags.ts';
import { watchLoop } from './support/loop-watch.ts';
import { heapUsed } from './support/memory.ts';
import { mebibytes, median, report, reportMachine, rounded } from './support/report.ts';

const LISTINGS = 5;
const EVENTS = 200_000;
const CHANGES = 20_000;

const { values: flags } = parseArgs({
  options: { ...COMMON_FLAGS, size: { type: 'string', default: '44125x1' } },
});

interface Cluster {
  readonly services: ReadonlyMap<string, Service>;
  readonly slices: ReadonlyMap<string, EndpointSlice>;
  readonly state: ProxyState;
}

async function main(): Promise<void> {
  reportMachine();
  const size = parseSize(flags.size);
  const cluster = makeCluster(size);
  report([{ cluster: sizeName(size), ...measureHistory(cluster) }], 'history');
  report([{ cluster: sizeName(size), ...(await measureServices(cluster)) }], 'services');
}

function makeCluster({ services: count, endpoints }: Size): Cluster {
  const services = new Map<string, Service>();
  const slices = new Map<string, EndpointSlice>();
  const settings = DEFAULT_PLAN_SETTINGS;
  const state = new ProxyState({ nodeName: 'node-1', settings, startedAt: 0, report: () => {} });
  for (let i = 0; i < count; i++) {
    const service = makeService(i);
    services.set(objectKey(service.metadata), service);
    state.serviceChanged({ type: 'added', to: service });
    for (const slice of makeSlices(i, endpoints)) {
      slices.set(objectKey(slice.metadata), slice);
      state.endpointSliceChanged({ type: 'added', to: slice });
    }
  }
  return { services, slices, state };
}

/** The first sync of the cluster is part of it, as at a cold start. */
function measureHistory({ services, slices, state }: Cluster) {
  const { IPv4 } = state.take();
  const objects = [...services.values()].map(to => ({ type: 'added', to }) as const);
  const changes = [...slices.values()].map(to => ({ type: 'added', to }) as const);
  const history = new History();
  const heap = heapUsed();
  const start = performance.now();
  for (const change of objects) history.serviceChanged(change);
  for (const change of changes) history.endpointSliceChanged(change);
  history.listed();
  history.taken();
  history.planned('IPv4', IPv4.model, IPv4.plans);
  history.synced('IPv4', { full: true, milliseconds: 1 });
  const coldStart = performance.now() - start;
  const atStart = heapUsed() - heap;
  const allChanged = timeChangeOfAll(history, IPv4.plans.added);
  const event = timeEvents(history, [...slices.values()]);
  const change = timeChanges(history, state, [...slices.values()]);
  const { size, bytes } = history;
  return {
    'cold start, ms': rounded(coldStart),
    'heap after it, KiB': Math.round(atStart / 1024),
    'all change at once, ms': rounded(allChanged),
    'one event, us': rounded(event),
    'one change, us': rounded(change),
    'full: entries': size,
    'full: MiB, bound': mebibytes(bytes),
    'full: MiB, heap': mebibytes(heapOfFullHistory(IPv4.plans.added)),
  };
}

/** All plans change in one sync, as after a change of the configuration. It holds up that sync. */
function timeChangeOfAll(history: History, plans: readonly ServicePortPlan[]): number {
  const model = { services: [], staleFlowsPossible: false, triggerTimes: new Map<string, number[]>() };
  const updated = plans.map(from => ({ from, to: { ...from } }));
  const start = performance.now();
  history.planned('IPv4', model, { added: [], updated, removed: [] });
  const spent = performance.now() - start;
  history.synced('IPv4', { full: true, milliseconds: 1 });
  return spent;
}

/** The memory of a history whose entries all have texts of their own. */
function heapOfFullHistory(plans: readonly ServicePortPlan[]): number {
  const model = { services: [], staleFlowsPossible: false, triggerTimes: new Map<string, number[]>() };
  const none = { added: [], updated: [], removed: [] };
  const history = new History();
  history.listed();
  history.planned('IPv4', model, none);
  const heap = heapUsed();
  for (let i = 0; i < 5000; i++) {
    const plan = plans[i % plans.length];
    if (plan) history.planned('IPv4', model, { ...none, added: [plan] });
    history.synced('IPv4', { full: false, milliseconds: 1 });
  }
  const used = heapUsed() - heap;
  // The history must live until here.
  return history.size > 0 ? used : 0;
}

/** Microseconds for an event that waits for a sync. */
function timeEvents(history: History, slices: readonly EndpointSlice[]): number {
  const changes = Array.from({ length: EVENTS }, (_, i) => {
    const from = slices[i % slices.length] as EndpointSlice;
    return { type: 'updated', from, to: { ...from } } as const;
  });
  const start = performance.now();
  for (const [i, change] of changes.entries()) {
    if (i % 1000 === 0) history.taken();
    history.endpointSliceChanged(change);
  }
  return ((performance.now() - start) / EVENTS) * 1000;
}

/** Microseconds to describe and keep a change, in the median, without model and planner. */
function timeChanges(history: History, state: ProxyState, slices: readonly EndpointSlice[]): number {
  const times: number[] = [];
  for (let i = 0; i < CHANGES; i++) {
    const from = slices[i % slices.length] as EndpointSlice;
    const port = 8000 + (i % 1000) + Math.floor(i / slices.length);
    const change = {
      type: 'updated',
      from,
      to: { ...from, ports: [{ name: 'http', protocol: 'TCP', port }] },
    } as const;
    state.endpointSliceChanged(change);
    history.endpointSliceChanged(change);
    const { model, plans } = state.takeFamily('IPv4');
    const start = performance.now();
    history.taken();
    history.planned('IPv4', model, plans);
    history.synced('IPv4', { full: false, milliseconds: 1 });
    times.push(performance.now() - start);
  }
  return median(times) * 1000;
}

interface Listing {
  readonly rows: number;
  readonly firstMs: number;
  readonly totalMs: number;
}

/** The proxy's side is this process; the reader is another one. */
async function measureServices(cluster: Cluster) {
  const folder = mkdtempSync(join(tmpdir(), 'pointsman-bench-'));
  const path = join(folder, 'proxy.sock');
  const history = new History();
  history.listed();
  const route = servicesRoute({
    facts: () => factsFrom(cluster.state, { nodeName: 'node-1', ...cluster }),
    history,
    connectionCounts: async () => undefined,
  });
  const nothing = () => {};
  const keeper = new SocketKeeper({
    path,
    handle: inspectionHandler({ routes: [route] }),
    connections: new ConnectionTable(8),
    opened: nothing,
    inUse: nothing,
    failed: error => console.error(error),
  });
  await keeper.start();
  const before = heapUsed();
  const watch = watchLoop();
  const listings = await runInChild<readonly Listing[]>({ name: 'list', argument: path });
  const { longestMs, longestCpuMs, peakHeap } = watch.stop();
  const after = heapUsed();
  keeper.close();
  rmSync(folder, { recursive: true });
  return {
    rows: listings[0]?.rows ?? 0,
    'first row, ms': rounded(median(listings.map(({ firstMs }) => firstMs))),
    'all rows, ms': rounded(median(listings.map(({ totalMs }) => totalMs))),
    'longest block, ms': rounded(longestMs),
    'its processor time, ms': rounded(longestCpuMs),
    'peak heap more, MiB': mebibytes(peakHeap - before),
    'heap more after it, MiB': mebibytes(after - before),
  };
}

/** In the reader's process. */
async function list(path: string): Promise<readonly Listing[]> {
  const listings: Listing[] = [];
  for (let i = 0; i < LISTINGS; i++) {
    const start = performance.now();
    let [rows, firstMs] = [-1, 0];
    for await (const _line of readProxyLines(path, '/v1/services')) {
      if (++rows === 1) firstMs = performance.now() - start;
    }
    listings.push({ rows, firstMs, totalMs: performance.now() - start });
  }
  return listings;
}

await performTaskOr(main, ({ argument }) => list(argument as string));
