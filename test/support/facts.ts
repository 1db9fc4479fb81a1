import { lookupIn } from '../../src/api/index.ts';
import type { Facts } from '../../src/explain/index.ts';
import { DEFAULT_MODE } from '../../src/modes/index.ts';
import { FAMILIES } from '../../src/net/index.ts';
import type { ProxyState } from '../../src/proxy/index.ts';

type FactsParts = Parameters<typeof lookupIn>[0] & Partial<Omit<Facts, 'state' | 'objects'>>;

/** The facts of a proxy without problems, settings and a kernel, unless the parts have them. */
export function factsFrom(state: ProxyState, { services, slices, ...parts }: FactsParts): Facts {
  return {
    origin: 'proxy',
    nodeName: 'node-a',
    families: FAMILIES,
    state,
    mode: DEFAULT_MODE,
    settings: () => {
      throw new Error('these facts have no settings');
    },
    interfaceIPs: undefined,
    objects: lookupIn({ services, slices }),
    problems: [],
    setAside: [],
    isPending: false,
    watches: [],
    kernel: undefined,
    ...parts,
  };
}
