import type { ObjectLookup } from '../api/index.ts';
import type { Problem } from '../lib/problem.ts';
import { findFlows, findListeners, findOtherRulesOn, probeAll } from '../machine/index.ts';
import type { ConfiguredMode } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import { modeSettings, type RunningProxy } from '../proxy/index.ts';
import type { Facts, KernelFacts, WatchFact } from './facts.ts';

/** A running proxy, and what it does not know itself. */
export interface ProxyFactsParts {
  readonly proxy: RunningProxy;
  readonly nodeName: string;
  readonly families: readonly Family[];
  readonly mode: ConfiguredMode;
  readonly objects: ObjectLookup;
  /** Faults in the input that exist now. */
  problems(): readonly Problem[];
  watches(): readonly WatchFact[];
  /** Where the proxy works. By default in the network namespace of this process. */
  readonly namespace?: MachineOptions['namespace'];
}

type MachineOptions = NonNullable<Parameters<typeof findFlows>[1]>;

/** What an explanation is made from, without copies of it. */
export function proxyFacts(parts: ProxyFactsParts): Facts {
  const { proxy, nodeName, families, mode, objects, namespace } = parts;
  const { loop, live } = proxy;
  const { state } = loop;
  return {
    origin: 'proxy',
    nodeName,
    families,
    state,
    mode,
    settings: family => modeSettings(state, family, live),
    get interfaceIPs() {
      return live.interfaceIPs();
    },
    objects,
    get problems() {
      return parts.problems();
    },
    get setAside() {
      return proxy.mode.setAside();
    },
    get condition() {
      return proxy.mode.condition?.();
    },
    isPending: loop.isPending,
    get watches() {
      return parts.watches();
    },
    kernel: kernelFacts(proxy, { namespace }),
  };
}

/** The proxy is in the network namespace of the node, so all of this is about the node. */
function kernelFacts({ mode }: RunningProxy, options: Pick<MachineOptions, 'namespace'>): KernelFacts {
  return {
    readBack: (family, plan) => mode.readBack(family, plan),
    sockets: async () => await mode.sockets?.(),
    flows: packet => findFlows(packet, options),
    otherRules: paths => findOtherRulesOn(paths, options),
    listeners: query => findListeners(query, options),
    probe: endpoints => probeAll(endpoints, options),
  };
}
