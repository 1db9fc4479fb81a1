// Services through model and plan, and what they cost in memory. Both families are modelled, as in the real process.
import { Model } from '../src/model/index.ts';
import { type Ip, parseIp } from '../src/net/index.ts';
import { Planner } from '../src/plan/index.ts';
import { makeService, makeSlices } from './support/cluster.ts';
import { collectYoung, heapUsed, median, report } from './support/report.ts';

const SIZES: readonly [services: number, endpoints: number][] = [
  [44_125, 1],
  [5_000, 5],
  [5_006, 50],
];
const CHUNK = 1000;
const REPETITIONS = 9;

const nodeIP = parseIp('192.168.0.2') as Ip;

function build() {
  return (['IPv4', 'IPv6'] as const).map(family => {
    const model = new Model({ family, nodeName: 'node-1', startedAt: 0, report: problem => console.error(problem) });
    const node = { name: 'node-1', zone: 'zone-a' };
    const options = { node, nodeIP, localDetector: undefined, masqueradeAll: false, allowExternalIPs: true };
    return { model, planner: new Planner(model, options) };
  });
}

/** Feeds a cluster and returns the milliseconds spent in model and plan; making the input is not counted. */
function load(stacks: ReturnType<typeof build>, services: number, endpoints: number): number {
  let spent = 0;
  for (let first = 0; first < services; first += CHUNK) {
    const numbers = Array.from({ length: Math.min(CHUNK, services - first) }, (_, i) => first + i);
    const objects = numbers.map(i => ({ service: makeService(i), slices: makeSlices(i, endpoints) }));
    collectYoung();
    const start = performance.now();
    for (const { model } of stacks) {
      for (const { service, slices } of objects) {
        model.setService(service);
        for (const slice of slices) model.setEndpointSlice(slice);
      }
    }
    spent += performance.now() - start;
  }
  const start = performance.now();
  for (const { model, planner } of stacks) planner.update(model.take());
  return spent + performance.now() - start;
}

function measure(services: number, endpoints: number) {
  const times = Array.from({ length: REPETITIONS }, () => {
    heapUsed();
    return load(build(), services, endpoints);
  });
  const before = heapUsed();
  const stacks = build();
  load(stacks, services, endpoints);
  const heap = heapUsed() - before;
  const changes: number[] = [];
  for (let i = 0; i < 100; i++) {
    const slices = makeSlices(i * 7, endpoints).map(slice => ({ ...slice, endpoints: slice.endpoints.slice(1) }));
    const start = performance.now();
    for (const { model, planner } of stacks) {
      for (const slice of slices) model.setEndpointSlice(slice);
      planner.update(model.take());
    }
    changes.push(performance.now() - start);
  }
  return {
    services,
    endpoints,
    best: perSecond(services, Math.min(...times)),
    median: perSecond(services, median(times)),
    heap,
    change: median(changes),
  };
}

function perSecond(count: number, ms: number): number {
  return Math.round(count / (ms / 1000));
}

const measured = SIZES.map(size => measure(...size));
const single = measured.find(({ endpoints }) => endpoints === 1);
const perSingle = single ? single.heap / single.services : Number.NaN;
report(
  measured.map(({ services, endpoints, best, median, heap, change }) => ({
    cluster: `${services}x${endpoints}`,
    // Others on the machine can only make it slower, so the best run is nearest to what one core can do.
    'services/s, best': best,
    'services/s, median': median,
    'heap bytes/service': Math.round(heap / services),
    'heap bytes/further endpoint': endpoints > 1 ? Math.round((heap / services - perSingle) / (endpoints - 1)) : '',
    'one change, us': Math.round(change * 1000),
  })),
);
