import { type EndpointSlice, objectKey, type Service } from '../../src/api/index.ts';
import type { Facts } from '../../src/explain/index.ts';
import type { Family } from '../../src/net/index.ts';
import { DEFAULT_PLAN_SETTINGS } from '../../src/plan/index.ts';
import { MASQUERADE_BIT, modeSettings, ProxyState } from '../../src/proxy/index.ts';
import { factsFrom } from './facts.ts';

interface FactsInput extends Partial<Pick<Facts, 'families' | 'problems' | 'setAside' | 'isPending'>> {
  readonly services: Iterable<Service>;
  readonly slices?: Iterable<EndpointSlice>;
}

/** The facts of a proxy on the node `node-a` that has planned these objects, without a kernel. */
export function listingFacts(input: FactsInput): Facts {
  const { families = ['IPv4'], services: givenServices, slices: givenSlices = [], ...facts } = input;
  const services = new Map<string, Service>();
  const slices = new Map<string, EndpointSlice>();
  const settings = DEFAULT_PLAN_SETTINGS;
  const state = new ProxyState({ nodeName: 'node-a', families, settings, startedAt: 0, report: () => {} });
  for (const service of givenServices) {
    services.set(objectKey(service.metadata), service);
    state.serviceChanged({ type: 'added', to: service });
  }
  for (const slice of givenSlices) {
    slices.set(objectKey(slice.metadata), slice);
    state.endpointSliceChanged({ type: 'added', to: slice });
  }
  state.take();
  const live = { nodePortAddresses: [], masqueradeBit: MASQUERADE_BIT, interfaceIPs: () => [] };
  const ofMode = (family: Family) => modeSettings(state, family, live);
  return factsFrom(state, { services, slices, families, settings: ofMode, ...facts });
}
