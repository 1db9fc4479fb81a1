// Measures ipvs mode: a cold load, one change and a restart, and how many messages each sends. Runs in a guest whose
// kernel has ip_vs. The guest is several times slower than the machine that it runs on.
//   --size 1000x5,…     only these sizes: Services x endpoints of each
//   --upstream FILE     also measures this kube-proxy in ipvs mode, in the same guest, by its own metrics
//   --upstream-size 1000x5,…   only these sizes of it, because it starts a program for every element
import { parseArgs } from 'node:util';
import type { EndpointSlice } from '../src/api/index.ts';
import { NetworkNamespace } from '../src/kernel/netns.ts';
import { IpvsMode } from '../src/modes/ipvs/index.ts';
import { setLoopbackUp } from '../test/support/namespaces.ts';
import { makeService, makeSlices, type Size, sizeName } from './support/cluster.ts';
import { COMMON_FLAGS, parseSizes } from './support/flags.ts';
import { NodeProxy } from './support/node-proxy.ts';
import { median, quantile, report, reportMachine, rounded } from './support/report.ts';
import { measureUpstream } from './support/upstream-ipvs.ts';

const REPETITIONS = 40;

const { values: flags } = parseArgs({
  options: {
    ...COMMON_FLAGS,
    size: { type: 'string', default: '1000x5,5000x5' },
    upstream: { type: 'string' },
    'upstream-size': { type: 'string', default: '1000x5' },
  },
});

async function main(): Promise<void> {
  reportMachine();
  const rows = [];
  for (const size of parseSizes(flags.size)) rows.push(rowOf(size, await measure(size)));
  report(rows, 'ipvs mode');
  if (flags.upstream !== undefined) await reportUpstream(flags.upstream);
}

function rowOf(size: Size, { cold, changes, restart }: Awaited<ReturnType<typeof measure>>) {
  const times = changes.map(({ milliseconds }) => milliseconds);
  return {
    cluster: sizeName(size),
    'cold ms': rounded(cold.milliseconds),
    'cold messages': cold.messages,
    'one endpoint p50 ms': rounded(median(times)),
    'p99 ms': rounded(quantile(times, 0.99)),
    messages: median(changes.map(({ messages }) => messages)),
    'restart ms': rounded(restart.milliseconds),
    'restart messages': restart.messages,
  };
}

async function reportUpstream(program: string): Promise<void> {
  const rows = [];
  for (const size of parseSizes(flags['upstream-size'])) {
    const { cold, changes } = await measureUpstream(program, size);
    rows.push({ cluster: sizeName(size), 'cold ms': rounded(cold), 'one endpoint p50 ms': rounded(median(changes)) });
  }
  report(rows, 'the other kube-proxy, in the same guest');
}

/** The cost of one sync. */
interface Cost {
  readonly milliseconds: number;
  readonly messages: number;
}

async function measure({ services, endpoints }: Size) {
  const namespace = NetworkNamespace.create();
  setLoopbackUp(namespace);
  let messages = 0;
  const proxy = new NodeProxy(namespace, {
    families: ['IPv4'],
    open: (home, events) =>
      new IpvsMode({
        namespace: home,
        events: {
          ...events,
          noticed: () => {},
          measured: (_, measure) => {
            if (measure.kind === 'batch') messages += measure.objects;
          },
        },
      }),
  });
  const costOf = async (work: () => Promise<void>): Promise<Cost> => {
    messages = 0;
    const start = performance.now();
    await work();
    return { milliseconds: performance.now() - start, messages };
  };
  try {
    for (let i = 0; i < services; i++) {
      proxy.service(makeService(i));
      for (const slice of makeSlices(i, endpoints)) proxy.endpointSlice(slice);
    }
    const loaded = proxy.take();
    const cold = await costOf(() => proxy.write(loaded));
    const changes: Cost[] = [];
    for (let i = 0; i < REPETITIONS; i++) {
      const [slice] = makeSlices(i * Math.floor(services / REPETITIONS), endpoints);
      if (!slice) continue;
      proxy.endpointSlice(replaceOne(slice));
      const changed = proxy.take();
      changes.push(await costOf(() => proxy.write(changed)));
    }
    await proxy.restart();
    return { cold, changes, restart: await costOf(() => proxy.writeAll()) };
  } finally {
    await proxy.close();
    namespace.close();
  }
}

function replaceOne(slice: EndpointSlice): EndpointSlice {
  const [first, ...others] = slice.endpoints;
  return first ? { ...slice, endpoints: [...others, { ...first, addresses: ['10.200.0.1'] }] } : slice;
}

await main();
