// Measures the model and the planner: how many Services a second they process, and how much memory a Service and an
// endpoint take. Both families are modelled, as in the real process.
//   --size 5000x5,…     only these sizes: Services x endpoints of each
import { parseArgs } from 'node:util';
import { Model } from '../src/model/index.ts';
import { type Ip, parseIp } from '../src/net/index.ts';
import { Planner } from '../src/plan/index.ts';
import { makeService, makeSlices, type Size, sizeName } from './support/cluster.ts';
import { COMMON_FLAGS, parseSizes } from './support/flags.ts';
import { collectYoung, heapUsed } from './support/memory.ts';
import { median, perSecond, report } from './support/report.ts';

const CHUNK = 1000;
const REPETITIONS = 9;
const CHANGES = 100;

const nodeIP = parseIp('192.168.0.2') as Ip;

const { values: flags } = parseArgs({
  options: { ...COMMON_FLAGS, size: { type: 'string', default: '44125x1,5000x5,5006x50' } },
});

function main(): void {
  const measured = parseSizes(flags.size).map(size => ({ size, ...measure(size) }));
  const single = measured.find(({ size }) => size.endpoints === 1);
  const bytesWithOneEndpoint = single ? single.heap / single.size.services : Number.NaN;
  report(
    measured.map(({ size, best, typical, heap, change }) => {
      const bytes = heap / size.services;
      const bytesPerEndpoint = (bytes - bytesWithOneEndpoint) / (size.endpoints - 1);
      return {
        cluster: sizeName(size),
        // Other programs on the machine can only slow a run down. So the best run shows best what one core can do.
        'services/s, best': best,
        'services/s, median': typical,
        'heap bytes/service': Math.round(bytes),
        'heap bytes/further endpoint': Number.isFinite(bytesPerEndpoint) ? Math.round(bytesPerEndpoint) : '',
        'one change, us': Math.round(change * 1000),
      };
    }),
  );
}

function measure(size: Size) {
  const times = Array.from({ length: REPETITIONS }, () => {
    heapUsed();
    return load(build(), size);
  });
  const before = heapUsed();
  const stacks = build();
  load(stacks, size);
  const heap = heapUsed() - before;
  return {
    best: perSecond(size.services, Math.min(...times)),
    typical: perSecond(size.services, median(times)),
    heap,
    change: median(timeChanges(stacks, size)),
  };
}

function build() {
  return (['IPv4', 'IPv6'] as const).map(family => {
    const model = new Model({ family, nodeName: 'node-1', startedAt: 0, report: problem => console.error(problem) });
    const node = { name: 'node-1', zone: 'zone-a' };
    const options = { node, nodeIP, localDetector: undefined, masqueradeAll: false, allowExternalIPs: true };
    return { model, planner: new Planner(model, options) };
  });
}

type Stacks = ReturnType<typeof build>;

/** Loads a cluster. Returns the milliseconds in model and planner, without the time to make the objects. */
function load(stacks: Stacks, { services, endpoints }: Size): number {
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

function timeChanges(stacks: Stacks, { endpoints }: Size): readonly number[] {
  return Array.from({ length: CHANGES }, (_, i) => {
    const slices = makeSlices(i * 7, endpoints).map(slice => ({ ...slice, endpoints: slice.endpoints.slice(1) }));
    const start = performance.now();
    for (const { model, planner } of stacks) {
      for (const slice of slices) model.setEndpointSlice(slice);
      planner.update(model.take());
    }
    return performance.now() - start;
  });
}

main();
