// Measures explanations of a running proxy with very many Services: how long one takes, with and without the kernel; how
// long it holds the event loop; and what a change of an endpoint takes while explanations run without a pause. Works in
// a network namespace of its own. Needs root.
//   --size 44125x1   Services x endpoints of each
//   --mode nftables  or iptables, userspace
//   --flows 100000   flows of connection tracking that other connections have
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type EndpointSlice, objectKey, type Service } from '../src/api/index.ts';
import { defaultConfiguration } from '../src/config/index.ts';
import { explain, type Facts, type KernelFacts, parseQuestion } from '../src/explain/index.ts';
import { ConntrackSocket, type Flow, L4, Status } from '../src/kernel/conntrack/index.ts';
import { NetworkNamespace } from '../src/kernel/netns.ts';
import { findFlows, findListeners, findOtherRulesOn } from '../src/machine/index.ts';
import { type ConfiguredMode, configuredMode, SILENT_EVENTS } from '../src/modes/index.ts';
import type { Ip } from '../src/net/index.ts';
import { DEFAULT_PLAN_SETTINGS } from '../src/plan/index.ts';
import { createProxy, MASQUERADE_BIT, modeSettings, type RunningProxy, syncIntervals } from '../src/proxy/index.ts';
import { factsFrom } from '../test/support/facts.ts';
import { makeService, makeSlices, POD_RANGE, parseSize, type Size, sizeName } from './support/cluster.ts';
import { COMMON_FLAGS } from './support/flags.ts';
import { watchLoop } from './support/loop-watch.ts';
import { median, quantile, report, reportMachine, rounded } from './support/report.ts';

const { values: flags } = parseArgs({
  options: {
    ...COMMON_FLAGS,
    size: { type: 'string', default: '44125x1' },
    mode: { type: 'string', default: 'nftables' },
    flows: { type: 'string', default: '100000' },
  },
});

const EXPLANATIONS = 200;
const CHANGES = 100;
const CALLER = '10.200.0.9';
const FLOWS_PER_REQUEST = 1000;
const FLOW_SECONDS = 600;

/** A proxy, and the objects that its source would have. */
interface Node {
  readonly namespace: NetworkNamespace;
  readonly proxy: RunningProxy;
  readonly mode: ConfiguredMode;
  readonly services: ReadonlyMap<string, Service>;
  readonly slices: ReadonlyMap<string, EndpointSlice>;
}

async function main(): Promise<void> {
  reportMachine();
  const size = parseSize(flags.size);
  const node = await startNode(size);
  try {
    await trackFlows(node.namespace, Number(flags.flows));
    const head = { mode: flags.mode, cluster: sizeName(size) };
    report(
      [
        { ...head, facts: 'in memory', ...(await measureExplanations(factsOf(node, undefined), size)) },
        { ...head, facts: 'and kernel', ...(await measureExplanations(factsOf(node, kernelOf(node)), size)) },
      ],
      'one explanation, milliseconds',
    );
    report(
      [
        { ...head, beside: 'nothing', ...(await measureChanges(node, size)) },
        { ...head, beside: 'explanations', ...(await measureChangesBesideExplanations(node, size)) },
      ],
      'one change of an endpoint, milliseconds',
    );
  } finally {
    await node.proxy.close();
    node.namespace.close();
  }
}

async function startNode({ services: count, endpoints }: Size): Promise<Node> {
  const namespace = NetworkNamespace.create();
  const mode = configuredMode({ ...defaultConfiguration(), mode: flags.mode }, { countConnections: false });
  const proxy = openProxy(namespace, mode);
  const services = new Map<string, Service>();
  const slices = new Map<string, EndpointSlice>();
  for (let i = 0; i < count; i++) {
    const service = makeService(i);
    services.set(objectKey(service.metadata), service);
    proxy.loop.serviceChanged({ type: 'added', to: service });
    for (const slice of makeSlices(i, endpoints)) {
      slices.set(objectKey(slice.metadata), slice);
      proxy.loop.endpointSliceChanged({ type: 'added', to: slice });
    }
  }
  proxy.loop.synced();
  await proxy.loop.settled();
  return { namespace, proxy, mode, services, slices };
}

function openProxy(namespace: NetworkNamespace, mode: ConfiguredMode): RunningProxy {
  const fail = (action: string, error: unknown) => {
    throw new Error(`could not ${action}: ${error}`);
  };
  const nothing = () => {};
  return createProxy(
    {
      nodeName: 'node-1',
      namespace,
      mode,
      live: {
        settings: { ...DEFAULT_PLAN_SETTINGS, clusterCIDRs: [POD_RANGE] },
        nodePortAddresses: [],
        masqueradeBit: MASQUERADE_BIT,
        intervals: syncIntervals(0),
      },
    },
    {
      loop: {
        problem: ({ message }) => fail('use an object', message),
        recovered: nothing,
        queued: nothing,
        syncStarted: nothing,
        synced: nothing,
        syncFailed: (_family, { error }) => fail('sync', error),
        failed: fail,
      },
      mode: { ...SILENT_EVENTS, failed: ({ action, error }) => fail(action, error) },
      staleFlowsCleaned: nothing,
    },
  );
}

function factsOf({ proxy, mode, services, slices }: Node, kernel: KernelFacts | undefined): Facts {
  const { state, families } = proxy.loop;
  return factsFrom(state, {
    nodeName: 'node-1',
    families,
    mode,
    settings: family => modeSettings(state, family, proxy.live),
    interfaceIPs: proxy.live.interfaceIPs(),
    services,
    slices,
    setAside: proxy.mode.setAside(),
    isPending: proxy.loop.isPending,
    kernel,
  });
}

function kernelOf({ namespace, proxy }: Node): KernelFacts {
  return {
    readBack: (family, plan) => proxy.mode.readBack(family, plan),
    flows: packet => findFlows(packet, { namespace }),
    otherRules: paths => findOtherRulesOn(paths, { namespace }),
    listeners: query => findListeners(query, { namespace }),
  };
}

function question(i: number, { services }: Size) {
  const n = (i * 9973) % services;
  return parseQuestion({ from: CALLER, to: `namespace-${n % 100}/service-${n}:http` });
}

/** The watch of the loop works in every turn of it, so the times are measured without the watch. */
async function measureExplanations(facts: Facts, size: Size) {
  await explain(question(1, size), facts);
  const spent: number[] = [];
  const { user, system } = process.cpuUsage();
  for (let i = 0; i < EXPLANATIONS; i++) {
    const start = performance.now();
    const { outcome } = await explain(question(i, size), facts);
    spent.push(performance.now() - start);
    if (outcome?.kind !== 'answered') throw new Error('the explanation does not reach an endpoint');
  }
  const used = process.cpuUsage();
  const processorMs = (used.user - user + used.system - system) / 1000 / EXPLANATIONS;
  return {
    ...distribution(spent),
    'processor time': rounded(processorMs),
    'longest hold of the loop': await longestHold(facts, size),
  };
}

async function longestHold(facts: Facts, size: Size): Promise<number> {
  const watch = watchLoop();
  for (let i = 0; i < EXPLANATIONS; i++) await explain(question(i, size), facts);
  return rounded(watch.stop().longestCpuMs);
}

/** Each change adds an endpoint to another Service, and ends when the kernel has it. */
async function measureChanges({ proxy }: Node, { services, endpoints }: Size, from = 0) {
  const spent: number[] = [];
  for (let i = 0; i < CHANGES; i++) {
    const n = (from + i * 7919) % services;
    for (const slice of makeSlices(n, endpoints).slice(0, 1)) {
      const [first] = slice.endpoints;
      if (!first) continue;
      const to = { ...slice, endpoints: [...slice.endpoints, { ...first, addresses: ['10.200.0.1'] }] };
      const start = performance.now();
      proxy.loop.endpointSliceChanged({ type: 'updated', from: slice, to });
      await proxy.loop.settled();
      spent.push(performance.now() - start);
    }
    await sleep(5);
  }
  return distribution(spent);
}

async function measureChangesBesideExplanations(node: Node, size: Size) {
  let isRunning = true;
  let explanations = 0;
  const facts = factsOf(node, kernelOf(node));
  const explaining = (async () => {
    for (let i = 0; isRunning; i++) {
      await explain(question(i, size), facts);
      explanations++;
    }
  })();
  const changes = await measureChanges(node, size, 1);
  isRunning = false;
  await explaining;
  return { ...changes, explanations };
}

function distribution(spent: readonly number[]) {
  return {
    p50: rounded(median(spent)),
    p99: rounded(quantile(spent, 0.99)),
    max: rounded(Math.max(...spent)),
  };
}

/** Flows that no explanation is about. The kernel passes over them when it looks for those of a caller. */
async function trackFlows(namespace: NetworkNamespace, count: number): Promise<void> {
  const socket = ConntrackSocket.open({ namespace });
  try {
    for (let first = 0; first < count; first += FLOWS_PER_REQUEST) {
      const size = Math.min(FLOWS_PER_REQUEST, count - first);
      const refused = await socket.create(Array.from({ length: size }, (_, i) => flowNumber(first + i)));
      if (refused.length > 0) throw refused[0]?.error;
    }
  } finally {
    socket.close();
  }
}

function flowNumber(n: number): Flow {
  const caller = `10.201.${(n >> 8) & 255}.${n & 255}` as Ip;
  const port = 1024 + (n >> 16);
  const endpoint = `10.202.${(n >> 8) & 255}.${n & 255}` as Ip;
  return {
    family: 'IPv4',
    protocol: L4.UDP,
    original: { src: caller, dst: '10.97.0.1' as Ip, srcPort: port, dstPort: 53 },
    reply: { src: endpoint, dst: caller, srcPort: 53, dstPort: port },
    status: Status.CONFIRMED | Status.SEEN_REPLY,
    timeout: FLOW_SECONDS,
  };
}

await main();
