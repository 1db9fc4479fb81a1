import { type EndpointSlice, lookupIn, objectKey, type Service } from '../../src/api/index.ts';
import { defaultConfiguration } from '../../src/config/index.ts';
import { proxyFacts } from '../../src/explain/index.ts';
import { History } from '../../src/history/index.ts';
import { inspect, inspectionHandler, type LiveHub, type ProxyStatus, PulseRecorder } from '../../src/inspect/index.ts';
import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { configuredMode, SILENT_EVENTS } from '../../src/modes/index.ts';
import type { HttpHandler } from '../../src/observe/http/index.ts';
import { DEFAULT_PLAN_SETTINGS } from '../../src/plan/index.ts';
import { createProxy, type LoopListener, MASQUERADE_BIT, syncIntervals } from '../../src/proxy/index.ts';
import { makeService, makeSlices, POD_RANGE, type Size } from './cluster.ts';

/** A proxy in a network namespace with its history and its inspection API, as the daemon has them. */
export interface WatchedNode {
  readonly handle: HttpHandler;
  readonly live: LiveHub;
  /** The slice as the proxy has it. */
  slice(slice: EndpointSlice): EndpointSlice | undefined;
  /** Resolves when the kernel has the change. */
  changeSlice(from: EndpointSlice, to: EndpointSlice): Promise<void>;
  close(): Promise<void>;
}

export async function startWatchedNode({ services: count, endpoints }: Size): Promise<WatchedNode> {
  const namespace = NetworkNamespace.create();
  const mode = configuredMode({ ...defaultConfiguration(), mode: 'nftables' }, { countConnections: false });
  const history = new History();
  const pulse = new PulseRecorder();
  const proxy = createProxy(
    {
      nodeName: 'node-1',
      namespace,
      mode,
      families: ['IPv4'],
      live: {
        settings: { ...DEFAULT_PLAN_SETTINGS, clusterCIDRs: [POD_RANGE] },
        nodePortAddresses: [],
        masqueradeBit: MASQUERADE_BIT,
        intervals: syncIntervals(0),
      },
    },
    {
      loop: listener(history, pulse),
      mode: { ...SILENT_EVENTS, failed: ({ action, error }) => fail(action, error) },
      staleFlowsCleaned: () => {},
    },
  );
  const services = new Map<string, Service>();
  const slices = new Map<string, EndpointSlice>();
  const facts = {
    proxy,
    nodeName: 'node-1',
    families: ['IPv4'] as const,
    mode,
    objects: lookupIn({ services, slices }),
  };
  const { routes, live } = inspect({
    nodeName: 'node-1',
    facts: () => proxyFacts({ ...facts, problems: () => NO_PROBLEMS, watches: () => [], namespace }),
    history,
    status: () => statusOf(proxy.loop.isPending),
    pulse,
    connectionCounts: async () => undefined,
    listing: (family, plans) => proxy.mode.listing(family, plans),
  });
  for (let i = 0; i < count; i++) {
    const service = makeService(i);
    services.set(objectKey(service.metadata), service);
    history.serviceChanged({ type: 'added', to: service });
    proxy.loop.serviceChanged({ type: 'added', to: service });
    for (const slice of makeSlices(i, endpoints)) {
      slices.set(objectKey(slice.metadata), slice);
      history.endpointSliceChanged({ type: 'added', to: slice });
      proxy.loop.endpointSliceChanged({ type: 'added', to: slice });
    }
  }
  history.listed();
  proxy.loop.synced();
  await proxy.loop.settled();
  return {
    handle: inspectionHandler({ routes }),
    live,
    slice: ({ metadata }) => slices.get(objectKey(metadata)),
    async changeSlice(from, to) {
      slices.set(objectKey(to.metadata), to);
      history.endpointSliceChanged({ type: 'updated', from, to });
      proxy.loop.endpointSliceChanged({ type: 'updated', from, to });
      await proxy.loop.settled();
    },
    async close() {
      live.close();
      await proxy.close();
      namespace.close();
    },
  };
}

const NO_PROBLEMS: readonly never[] = [];

function fail(action: string, error: unknown): never {
  throw new Error(`could not ${action}: ${error}`);
}

function listener(history: History, pulse: PulseRecorder): LoopListener {
  const nothing = () => {};
  return {
    problem: ({ message }) => fail('use an object', message),
    recovered: nothing,
    queued: nothing,
    syncStarted: nothing,
    allTaken: () => history.taken(),
    changesTaken: (family, diff, plans) => history.planned(family, diff, plans),
    synced: (family, sync) => pulse.syncEnded({ ...sync, latencyMs: history.synced(family, sync) }),
    syncFailed: (_family, { error }) => fail('sync', error),
    failed: fail,
  };
}

/** About as long as that of a daemon. */
function statusOf(pending: boolean): ProxyStatus {
  const { rss, heapUsed, external } = process.memoryUsage();
  const sync = { at: new Date().toISOString(), family: 'IPv4', full: false, servicePorts: 1, milliseconds: 1 } as const;
  return {
    version: '0',
    kubernetesVersion: '0',
    node: 'node-1',
    mode: 'nftables',
    source: 'cluster',
    pid: process.pid,
    startedAt: '',
    uptimeSeconds: Math.round(process.uptime()),
    alive: true,
    ready: true,
    healthy: true,
    nodeEligible: true,
    pending,
    families: [],
    checks: [],
    syncs: Array.from({ length: 10 }, () => sync),
    failedSyncs: 0,
    drift: { repairs: 0 },
    memory: { resident: rss, heapUsed, external },
    watches: [],
    problems: 0,
  };
}
