// Measures how long an explanation takes with very many Services, with all reads of the kernel in nftables mode, and for
// how long it holds the event loop at most: a sync waits as long.
//   --size 44125x1   Services x endpoints of each
import { parseArgs } from 'node:util';
import { type EndpointSlice, objectKey, type Service } from '../src/api/index.ts';
import { explain, type Facts, type KernelFacts, parseQuestion } from '../src/explain/index.ts';
import type { NetworkNamespace } from '../src/kernel/netns.ts';
import { writeSysctl } from '../src/kernel/sysctl.ts';
import { findFlows, findOtherRules } from '../src/machine/index.ts';
import { DEFAULT_MODE, type Mode, SILENT_EVENTS } from '../src/modes/index.ts';
import type { Ip } from '../src/net/index.ts';
import { DEFAULT_PLAN_SETTINGS } from '../src/plan/index.ts';
import { MASQUERADE_BIT, modeSettings, ProxyState } from '../src/proxy/index.ts';
import { createNodeNamespace } from '../test/support/namespaces.ts';
import { node } from '../test/support/objects.ts';
import { makeService, makeSlices, POD_RANGE, parseSize, type Size } from './support/cluster.ts';
import { COMMON_FLAGS } from './support/flags.ts';
import { median, report, reportMachine, rounded } from './support/report.ts';

const REPETITIONS = 20;
const NODE_IPS = ['192.168.0.2' as Ip];

/** What is asked, and what the search for an answer has to look at. */
const QUESTIONS: readonly (readonly [about: string, to: string, from?: string])[] = [
  ['a Service', 'namespace-50/service-20050'],
  ['an address, from the node', '10.96.78.82:80', 'node'],
  ['a Service, from an address', 'namespace-50/service-20050', '10.130.1.1'],
  ['a misspelt Service', 'namespace-50/servcie-20050'],
  ['an address that nothing has', '198.51.100.1:80'],
];

const { values: flags } = parseArgs({
  options: { ...COMMON_FLAGS, size: { type: 'string', default: '44125x1' } },
});

async function main(): Promise<void> {
  reportMachine();
  const namespace = createNodeNamespace();
  writeSysctl('net/ipv4/ip_forward', '1', namespace);
  const mode = DEFAULT_MODE.create({ namespace, events: SILENT_EVENTS });
  try {
    const facts = await makeFacts(parseSize(flags.size), mode, namespace);
    const rows = [];
    for (const [question, to, from] of QUESTIONS) rows.push({ question, ...(await measure(to, from, facts)) });
    report(rows);
  } finally {
    await mode.close();
    namespace.close();
  }
}

async function makeFacts(
  { services: count, endpoints }: Size,
  mode: Mode,
  namespace: NetworkNamespace,
): Promise<Facts> {
  const services = new Map<string, Service>();
  const slices = new Map<string, EndpointSlice>();
  const settings = { ...DEFAULT_PLAN_SETTINGS, clusterCIDRs: [POD_RANGE] };
  const state = new ProxyState({ nodeName: 'node-1', settings, startedAt: 0, report: () => {} });
  state.nodeChanged({ type: 'added', to: node('node-1', { internalIPs: NODE_IPS }) });
  for (let i = 0; i < count; i++) {
    const service = makeService(i);
    services.set(objectKey(service.metadata), service);
    state.serviceChanged({ type: 'added', to: service });
    for (const slice of makeSlices(i, endpoints)) {
      slices.set(objectKey(slice.metadata), slice);
      state.endpointSliceChanged({ type: 'added', to: slice });
    }
  }
  const input = { nodePortAddresses: [], masqueradeBit: MASQUERADE_BIT, interfaceIPs: () => NODE_IPS };
  const settingsOf: Facts['settings'] = family => modeSettings(state, family, input);
  await mode.sync('IPv4', state.take().IPv4.plans, settingsOf('IPv4'));
  return {
    origin: 'proxy',
    nodeName: 'node-1',
    families: ['IPv4'],
    state,
    mode: DEFAULT_MODE,
    settings: settingsOf,
    interfaceIPs: NODE_IPS,
    objects: {
      service: key => services.get(key),
      services: () => services.values(),
      slice: key => slices.get(key),
      slices: () => slices.values(),
    },
    problems: [],
    setAside: [],
    isPending: false,
    watches: [],
    kernel: kernelFacts(mode, namespace),
  };
}

function kernelFacts(mode: Mode, namespace: NetworkNamespace): KernelFacts {
  const nothing = { entries: [], affinity: [] };
  return {
    readBack: async (family, plan) => (await mode.readBack?.(family, plan)) ?? nothing,
    flows: packet => findFlows(packet, { namespace }),
    otherRules: path => findOtherRules(path, { namespace }),
  };
}

async function measure(to: string, from: string | undefined, facts: Facts) {
  const times: number[] = [];
  let longest = 0;
  let verdict = '';
  for (let i = 0; i < REPETITIONS; i++) {
    const loop = watchLoop();
    const start = performance.now();
    ({ verdict } = await explain(parseQuestion({ to, from }), facts));
    times.push(performance.now() - start);
    longest = Math.max(longest, await loop.stop());
  }
  return {
    verdict,
    'median, ms': rounded(median(times)),
    'max, ms': rounded(Math.max(...times)),
    'longest hold, ms': rounded(longest),
  };
}

/** Notes for how long the event loop is held at most. */
function watchLoop(): { stop(): Promise<number> } {
  let last = performance.now();
  let longest = 0;
  let isOver = false;
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  return {
    async stop() {
      isOver = true;
      await new Promise(resolve => setImmediate(resolve));
      return longest;
    },
  };
}

await main();
