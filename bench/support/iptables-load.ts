import { ANNOTATION_BALANCE, ANNOTATION_WEIGHTS, type EndpointSlice, type Service } from '../../src/api/index.ts';
import type { Backend } from '../../src/kernel/iptables/index.ts';
import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { IptablesMode } from '../../src/modes/iptables/index.ts';
import { makeService, makeSlices, type Size } from './cluster.ts';
import { NodeProxy } from './node-proxy.ts';
import { ProgramTimes } from './program-times.ts';

export interface IptablesTask {
  readonly size: Size;
  readonly backend: Backend;
  /** The algorithm of all Services. Undefined: they choose none. */
  readonly balance?: string | undefined;
}

/** Milliseconds: the total, and the part in which iptables programs ran. */
export interface Timing {
  readonly total: number;
  readonly programs: number;
}

export interface IptablesResult {
  readonly cold: Timing;
  readonly restart: Timing;
  readonly changes: Readonly<Record<string, readonly Timing[]>>;
}

const REPETITIONS = 15;

/** Loads a cluster through model, planner and mode, changes it, and restarts. */
export async function measureIptables({ size, backend, balance }: IptablesTask): Promise<IptablesResult> {
  const namespace = NetworkNamespace.create();
  const times = ProgramTimes.watch();
  const proxy = new NodeProxy(namespace, {
    // The mode gives a notice that node ports answer at localhost. It is not an error here.
    open: (home, events) =>
      new IptablesMode({ namespace: home, programs: { backend }, events: { ...events, notice: () => {} } }),
  });
  const timed = async (work: () => Promise<void>): Promise<Timing> => {
    const before = times.programs;
    const start = performance.now();
    await work();
    return { total: performance.now() - start, programs: times.programs - before };
  };
  const make = (i: number) => withBalance(makeService(i), balance, makeSlices(i, size.endpoints));
  try {
    const objects = Array.from({ length: size.services }, (_, i) => ({
      service: make(i),
      slices: makeSlices(i, size.endpoints),
    }));
    const cold = await timed(() => load(proxy, objects));
    objects.length = 0;
    const changes = {
      'one endpoint more': await timeChanges(proxy, make, size, 0, gain, timed),
      'one endpoint less': await timeChanges(proxy, make, size, 1, lose, timed),
      'one Service more': await timeChanges(proxy, make, size, size.services, keep, timed),
      // A Service without endpoints leaves the table nat, as a deleted Service does.
      'one Service less': await timeChanges(proxy, make, size, 2, loseAll, timed),
    };
    await proxy.restart();
    const restart = await timed(() => proxy.writeAll());
    return { cold, changes, restart };
  } finally {
    await proxy.close();
    namespace.close();
  }
}

interface Objects {
  readonly service: Service;
  readonly slices: readonly EndpointSlice[];
}

/** With the algorithm `weighted`, the first endpoint weighs as much as three others. */
function withBalance(service: Service, balance: string | undefined, slices: readonly EndpointSlice[]): Service {
  if (balance === undefined) return service;
  const [address] = slices[0]?.endpoints[0]?.addresses ?? [];
  const annotations = { [ANNOTATION_BALANCE]: balance, [ANNOTATION_WEIGHTS]: `${address}=3` };
  return { ...service, metadata: { ...service.metadata, annotations } };
}

async function load(proxy: NodeProxy, objects: readonly Objects[]): Promise<void> {
  for (const { service, slices } of objects) {
    proxy.service(service);
    for (const slice of slices) proxy.endpointSlice(slice);
  }
  await proxy.write(proxy.take());
}

type ChangeSlice = (slice: EndpointSlice) => EndpointSlice;
type Timed = (work: () => Promise<void>) => Promise<Timing>;

const keep: ChangeSlice = slice => slice;
const gain: ChangeSlice = slice => {
  const [first] = slice.endpoints;
  return first ? { ...slice, endpoints: [...slice.endpoints, { ...first, addresses: ['10.250.0.1'] }] } : slice;
};
const lose: ChangeSlice = slice => ({ ...slice, endpoints: slice.endpoints.slice(1) });
const loseAll: ChangeSlice = slice => ({ ...slice, endpoints: [] });

/** Times one change each of Services all over the cluster, from the number `first` on, or of new Services. */
async function timeChanges(
  proxy: NodeProxy,
  make: (number: number) => Service,
  size: Size,
  first: number,
  change: ChangeSlice,
  timed: Timed,
) {
  const spent: Timing[] = [];
  const step = first < size.services ? Math.floor(size.services / REPETITIONS) : 1;
  for (let i = 0; i < REPETITIONS; i++) {
    const number = i * step + first;
    const slices = makeSlices(number, size.endpoints).map(change);
    const timing = await timed(async () => {
      proxy.service(make(number));
      for (const slice of slices) proxy.endpointSlice(slice);
      await proxy.write(proxy.take());
    });
    spent.push(timing);
  }
  return spent;
}
