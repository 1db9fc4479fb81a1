import { Feedback } from '../feedback/index.ts';
import { ConnectionEnder, type Mode, type ModeDescriptor, StaleFlowCleaner } from '../modes/index.ts';
import type { Family, Ip } from '../net/index.ts';
import type { AddressOwner, EndedEndpoint, Flow } from '../plan/index.ts';
import { EndpointEnds } from './endpoint-ends.ts';
import type { ProxyConfig, ProxyListeners } from './proxy.ts';
import type { ProxyLoop, ProxyOptions } from './proxy-loop.ts';
import { StaleFlowSearches } from './stale-flow-searches.ts';

/** What the parts of a proxy need of each other. */
export interface PartsContext {
  readonly config: ProxyConfig;
  readonly listeners: ProxyListeners;
  readonly mode: Mode;
  readonly descriptor: ModeDescriptor;
  /** The loop is made last. */
  loop(): ProxyLoop;
  allowsExternalIPs(): boolean;
}

/** What the proxy learns about endpoints. The loop plans the Services again whose endpoints changed. */
export function createFeedback({ config, listeners, descriptor, loop }: PartsContext): Feedback {
  return new Feedback({
    clock: config.feedbackClock,
    namespace: config.namespace,
    needsConnectionFeedback: descriptor.needsConnectionFeedback,
    plansOf: (family, service) => loop().state.family(family).planner.plansOf(service),
    replan(family, service) {
      loop().state.replan(family, service);
      loop().request([family]);
    },
    ejectionChanged: report => listeners.ejectionChanged?.(report),
    eventsLost: () => listeners.connectionEventsLost?.(),
    onError: (action, error) => listeners.loop.failed(action, error),
  });
}

/** The end of connections of endpoints that are gone: `ends` decides when, and `ender` does it. */
export function createEnds({ config, listeners, mode, loop, allowsExternalIPs }: PartsContext) {
  const { namespace, clientNamespaces: otherNamespaces } = config;
  const ender = new ConnectionEnder({ namespace, mode, otherNamespaces });
  const end = async (family: Family, ended: readonly EndedEndpoint[]) => {
    const start = performance.now();
    try {
      const { planner } = loop().state.family(family);
      const ownerAt: AddressOwner = (ip, port) => planner.frontendAt(ip as Ip | undefined, port, 'TCP')?.plan.service;
      const report = await ender.end(family, ended, allowsExternalIPs(), ownerAt);
      listeners.connectionsEnded?.(family, report, performance.now() - start);
    } catch (error) {
      listeners.connectionsNotEnded?.(family, ended, error);
    }
  };
  const ends = new EndpointEnds({ service: (family, key) => loop().state.family(family).model.service(key), end });
  return { ends, ender };
}

/** The removal of flows that lead nowhere. `lostAttempts` searches once, after the first sync of a family. */
export function createFlowCleaning({ config, listeners, descriptor, loop, allowsExternalIPs }: PartsContext) {
  const cleaner = new StaleFlowCleaner(config.namespace);
  const lostAttempts = new StaleFlowSearches(
    family => {
      const services = [...loop().state.family(family).model.services()];
      return cleaner.cleanLostAttempts(family, services, allowsExternalIPs());
    },
    error => listeners.loop.failed('remove lost attempts to connect', error),
  );
  const cleanStaleFlows: ProxyOptions['cleanStaleFlows'] = async (family, services) => {
    if (descriptor.removesStaleFlows) return 0;
    const start = performance.now();
    listeners.staleFlowSearchStarted?.(family);
    const onFound = (flow: Flow) => listeners.staleFlowFound?.(family, flow);
    const deleted = await cleaner.clean(family, services, allowsExternalIPs(), onFound);
    listeners.staleFlowsCleaned(family, deleted, performance.now() - start);
    return deleted;
  };
  return { cleaner, lostAttempts, cleanStaleFlows };
}
