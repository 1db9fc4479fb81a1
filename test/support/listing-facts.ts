import { type EndpointSlice, objectKey, type Service } from '../../src/api/index.ts';
import type { Facts } from '../../src/explain/index.ts';
import { DEFAULT_MODE } from '../../src/modes/index.ts';
import { DEFAULT_PLAN_SETTINGS } from '../../src/plan/index.ts';
import { ProxyState } from '../../src/proxy/index.ts';

interface FactsInput extends Partial<Pick<Facts, 'families' | 'problems' | 'setAside' | 'isPending'>> {
  readonly services: Iterable<Service>;
  readonly slices?: Iterable<EndpointSlice>;
}

/** The facts of a proxy on the node `node-a` that has planned these objects, without a kernel. */
export function listingFacts(input: FactsInput): Facts {
  const { families = ['IPv4'], problems = [], setAside = [], isPending = false } = input;
  const services = new Map<string, Service>();
  const slices = new Map<string, EndpointSlice>();
  const settings = DEFAULT_PLAN_SETTINGS;
  const state = new ProxyState({ nodeName: 'node-a', families, settings, startedAt: 0, report: () => {} });
  for (const service of input.services) {
    services.set(objectKey(service.metadata), service);
    state.serviceChanged({ type: 'added', to: service });
  }
  for (const slice of input.slices ?? []) {
    slices.set(objectKey(slice.metadata), slice);
    state.endpointSliceChanged({ type: 'added', to: slice });
  }
  state.take();
  return {
    origin: 'proxy',
    nodeName: 'node-a',
    families,
    state,
    mode: DEFAULT_MODE,
    settings: () => {
      throw new Error('a listing needs no settings');
    },
    interfaceIPs: undefined,
    objects: {
      service: key => services.get(key),
      services: () => services.values(),
      slice: key => slices.get(key),
      slices: () => slices.values(),
    },
    problems,
    setAside,
    isPending,
    watches: [],
    kernel: undefined,
  };
}
