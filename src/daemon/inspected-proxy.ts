import { configurationObject } from '../config/index.ts';
import { proxyFacts } from '../explain/index.ts';
import type { ConfigurationAnswer, InspectedProxy, RunRecord } from '../inspect/index.ts';
import { withoutUrlCredentials } from '../lib/secrets.ts';
import { connectionCounts, type TrafficReader } from '../modes/index.ts';
import type { RunningProxy } from '../proxy/index.ts';
import { proxyStatus } from './proxy-status.ts';
import type { RunParts } from './run.ts';

/** What the inspection API shows of this proxy. */
export function inspectedProxy(
  parts: RunParts,
  proxy: RunningProxy,
  record: RunRecord,
  traffic: TrafficReader,
): InspectedProxy {
  const { options, observability, objects, nodeName, families, mode } = parts;
  return {
    nodeName,
    facts: () =>
      proxyFacts({
        proxy,
        nodeName,
        families,
        mode,
        objects: objects.lookup,
        problems: () => observability.input.all,
        watches: () => objects.watches(),
      }),
    history: observability.history,
    status: () => proxyStatus(parts, proxy, record),
    pulse: record.pulse,
    connectionCounts: () => connectionCounts(proxy.mode, traffic),
    traffic: () => traffic.read(),
    listing: (family, plans) => proxy.mode.listing(family, plans),
    daemon: {
      configuration: () => configurationAnswer(parts),
      logLines: () => options.logControl.recentLines(),
      metrics: () => observability.metrics.text(),
      programmed: () => parts.programmed.state(proxy.loop.isPending),
    },
  };
}

function configurationAnswer({ options, observability }: RunParts): ConfigurationAnswer {
  const flags = options.flags().map(({ name, value }) => [name, withoutUrlCredentials(value)] as const);
  return {
    configuration: configurationObject(observability.configuration()),
    file: options.configFile,
    flags: Object.fromEntries(flags),
  };
}
