import { objectKey } from '../api/index.ts';
import { type ConfiguredApiClient, createApiClient } from '../client/index.ts';
import { toMilliseconds } from '../lib/duration.ts';
import { serviceReference } from '../observe/events/index.ts';
import type { ProxyMetrics } from '../observe/metrics/index.ts';
import { ClusterSource } from '../source/index.ts';
import type { Closers } from './closers.ts';
import { clusterReport } from './cluster-report.ts';
import { namesOf } from './events.ts';
import type { Objects } from './objects.ts';
import type { DaemonOptions } from './options.ts';
import { OwnNode } from './own-node.ts';
import type { Surroundings } from './surroundings.ts';
import { waitForNode } from './wait-for-node.ts';
import { WatchChecks } from './watch-checks.ts';

/** Objects from the API server, once the Node is known. */
export async function clusterObjects(
  options: DaemonOptions,
  nodeName: string,
  surroundings: Surroundings,
  closers: Closers,
): Promise<Objects> {
  const { configuration, log } = options;
  const { metrics, checks } = surroundings;
  const client = openClient(options, metrics);
  closers.add('API client', () => client.close());
  surroundings.connected(client);
  const watchChecks = new WatchChecks();
  const source = new ClusterSource({
    client,
    nodeName,
    accept: client.accept(),
    resyncMs: toMilliseconds(configuration.configSyncPeriod),
    report: clusterReport(log, metrics, watchChecks),
  });
  closers.add('objects', () => source.close());
  watchChecks.addTo(checks, source);
  const ownNode = new OwnNode();
  await followOwnNode(source, ownNode, options);
  await waitForNode(ownNode, nodeName, configuration.detectLocalMode === 'NodeCIDR', log);
  return {
    source,
    ownNode,
    serviceReference: servicePort => {
      const names = namesOf(servicePort);
      return serviceReference({ ...names, uid: source.services.get(objectKey(names))?.metadata.uid });
    },
  };
}

function openClient({ configuration, log, master }: DaemonOptions, metrics: ProxyMetrics): ConfiguredApiClient {
  const { clientConnection } = configuration;
  const say =
    (severity: 'info' | 'warning' | 'error') => (message: string, fields?: Readonly<Record<string, unknown>>) =>
      log[severity]('client', message, fields);
  return createApiClient({
    kubeconfig: clientConnection.kubeconfig,
    master,
    clientConnection,
    log: { info: say('info'), warning: say('warning'), error: say('error') },
    observe: observation => metrics.restObserved(observation),
  });
}

/** Without its Node the proxy does not know its own addresses, so it waits for the API server as long as it takes. */
function followOwnNode(source: ClusterSource, ownNode: OwnNode, { log }: DaemonOptions): Promise<void> {
  log.info('server', 'Waiting for the API server');
  return new Promise(resolve => {
    source.node.addHandler({
      changed: change => ownNode.handle(change),
      synced: resolve,
    });
    source.node.start();
  });
}
