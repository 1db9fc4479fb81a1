// ipvs mode at several sizes: cold load, one change, restart, and how many messages each takes. Runs in a guest, whose
// kernel has ip_vs, and which is several times slower than the machine that it runs on.
//   --size 1000x5,…    only these sizes
//   --upstream FILE    another kube-proxy in ipvs mode, in the same guest; by its own count of what a sync takes
//   --upstream-size 1000x5,…   only these sizes of it: it starts a program for every element
import { release } from 'node:os';
import { parseArgs } from 'node:util';
import type { EndpointSlice } from '../src/api/index.ts';
import { NetworkNamespace } from '../src/kernel/netns.ts';
import { RouteSocket } from '../src/kernel/rtnetlink/index.ts';
import { parseNodePortAddresses } from '../src/model/index.ts';
import { SILENT_EVENTS } from '../src/modes/index.ts';
import { IpvsMode } from '../src/modes/ipvs/index.ts';
import { DEFAULT_PLAN_SETTINGS, type PlanDiff } from '../src/plan/index.ts';
import { ProxyState } from '../src/proxy/index.ts';
import { makeService, makeSlices, POD_RANGE, parseSize, type Size, sizeName } from './support/cluster.ts';
import { median, quantile, report } from './support/report.ts';
import { measureUpstream } from './support/upstream-ipvs.ts';

const REPETITIONS = 40;

const { values: flags } = parseArgs({
  options: {
    json: { type: 'boolean' },
    size: { type: 'string', default: '1000x5,5000x5' },
    upstream: { type: 'string' },
    'upstream-size': { type: 'string', default: '1000x5' },
  },
});

/** One sync. */
interface Cost {
  readonly milliseconds: number;
  readonly messages: number;
}

class Bench {
  readonly state = new ProxyState({
    nodeName: 'node-1',
    settings: { ...DEFAULT_PLAN_SETTINGS, clusterCIDRs: [POD_RANGE] },
    startedAt: 0,
    report: problem => fail(problem.message),
  });
  readonly #namespace: NetworkNamespace;
  #messages = 0;
  #mode: IpvsMode;

  constructor(namespace: NetworkNamespace) {
    this.#namespace = namespace;
    this.#mode = this.#open();
  }

  /** Writes what changed since the last time. */
  sync(): Promise<Cost> {
    return this.#write(this.state.take().IPv4.plans);
  }

  async restart(): Promise<Cost> {
    await this.#mode.close();
    this.#mode = this.#open();
    return this.#write({ added: [...this.state.family('IPv4').planner.plans()], updated: [], removed: [] });
  }

  close(): Promise<void> {
    return this.#mode.close();
  }

  async #write(plans: PlanDiff): Promise<Cost> {
    this.#messages = 0;
    const start = performance.now();
    await this.#mode.sync('IPv4', plans, {
      localDetector: this.state.nodeOptions.families.IPv4.localDetector,
      masqueradeAll: false,
      masqueradeMark: 0x4000,
      nodePortAddresses: parseNodePortAddresses('IPv4', []),
      nodePortIPs: [],
      serviceCIDRs: [],
    });
    return { milliseconds: performance.now() - start, messages: this.#messages };
  }

  #open(): IpvsMode {
    return new IpvsMode({
      namespace: this.#namespace,
      events: {
        ...SILENT_EVENTS,
        setAside: ({ servicePort, error }) => fail(`${servicePort}: ${error}`),
        driftRepaired: (family, what) => fail(`${family} was repaired: ${what}`),
        measured: (_, measure) => {
          if (measure.kind === 'batch') this.#messages += measure.objects;
        },
        failed: (what, error) => fail(`${what}: ${error}`),
      },
    });
  }
}

async function measure({ services, endpoints }: Size) {
  const namespace = NetworkNamespace.create();
  const route = RouteSocket.open({ namespace });
  route.setLink({ index: 1, name: 'lo' }, { up: true });
  route.close();
  const bench = new Bench(namespace);
  try {
    for (let i = 0; i < services; i++) {
      bench.state.serviceChanged({ type: 'added', to: makeService(i) });
      for (const object of makeSlices(i, endpoints)) bench.state.endpointSliceChanged({ type: 'added', to: object });
    }
    const cold = await bench.sync();
    const changes: Cost[] = [];
    for (let i = 0; i < REPETITIONS; i++) {
      const [slice] = makeSlices(i * Math.floor(services / REPETITIONS), endpoints);
      if (!slice) continue;
      bench.state.endpointSliceChanged({ type: 'added', to: replaceOne(slice) });
      changes.push(await bench.sync());
    }
    return { cold, changes, restart: await bench.restart() };
  } finally {
    await bench.close();
    namespace.close();
  }
}

function replaceOne(slice: EndpointSlice): EndpointSlice {
  const [first, ...others] = slice.endpoints;
  return first ? { ...slice, endpoints: [...others, { ...first, addresses: ['10.200.0.1'] }] } : slice;
}

/** A benchmark of something that went wrong is worth nothing. */
function fail(message: string): never {
  throw new Error(message);
}

const ms = (value: number) => (value < 100 ? Number(value.toFixed(2)) : Math.round(value));
if (!flags.json) console.log(`Linux ${release()} in a guest`);
const rows = [];
for (const size of flags.size.split(',').map(parseSize)) {
  const { cold, changes, restart } = await measure(size);
  const times = changes.map(({ milliseconds }) => milliseconds);
  rows.push({
    cluster: sizeName(size),
    'cold ms': ms(cold.milliseconds),
    'cold messages': cold.messages,
    'one endpoint p50 ms': ms(median(times)),
    'p99 ms': ms(quantile(times, 0.99)),
    messages: median(changes.map(({ messages }) => messages)),
    'restart ms': ms(restart.milliseconds),
    'restart messages': restart.messages,
  });
}
report(rows, 'ipvs mode');
if (flags.upstream !== undefined) {
  const theirs = [];
  for (const size of flags['upstream-size'].split(',').map(parseSize)) {
    const { cold, changes } = await measureUpstream(flags.upstream, size);
    theirs.push({ cluster: sizeName(size), 'cold ms': ms(cold), 'one endpoint p50 ms': ms(median(changes)) });
  }
  report(theirs, 'the other kube-proxy, in the same guest');
}
