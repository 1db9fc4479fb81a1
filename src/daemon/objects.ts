import { type ObjectLookup, type ObjectMeta, objectKey } from '../api/index.ts';
import { type ApiClient, type ConfiguredApiClient, createApiClient } from '../client/index.ts';
import type { WatchFact } from '../explain/index.ts';
import { toMilliseconds } from '../lib/duration.ts';
import { type ObjectReference, serviceReference } from '../observe/events/index.ts';
import type { ProxyMetrics } from '../observe/metrics/index.ts';
import { NO_VERSIONS, type ResourceVersions } from '../proxy/index.ts';
import { ClusterSource, FilesSource, type Source } from '../source/index.ts';
import type { Observability } from './observability.ts';
import type { DaemonOptions } from './options.ts';
import { localNode, OwnNode, waitForNode } from './own-node.ts';
import type { OpenResources } from './shutdown.ts';
import { WatchChecks, watchReporter, watchSilenceMs } from './watch-report.ts';

/** The source of the proxy's objects, opened far enough that the Node is known. */
export interface Objects {
  readonly source: Source;
  /** Undefined without an API server. */
  readonly client: ApiClient | undefined;
  readonly ownNode: OwnNode;
  /** The Services and EndpointSlices as the source delivered them. */
  readonly lookup: ObjectLookup;
  /** The source has delivered everything up to these versions. Manifests have none. */
  versions(): ResourceVersions;
  /** The state of each watch. Empty without an API server. */
  watches(): readonly WatchFact[];
  /** The reference in an Event about a Service. */
  serviceReference(service: Pick<ObjectMeta, 'namespace' | 'name'>): ObjectReference;
}

export async function openObjects(
  options: DaemonOptions,
  nodeName: string,
  observability: Observability,
  resources: OpenResources,
): Promise<Objects> {
  const { manifests } = options;
  if (manifests === undefined) return openCluster(options, nodeName, observability, resources);
  observability.connectEvents(undefined);
  return openManifests(manifests, options, nodeName, resources);
}

/** This machine is the Node, unless a manifest describes it. */
function openManifests(
  path: string,
  { allowLoopbackEndpoints }: DaemonOptions,
  nodeName: string,
  resources: OpenResources,
): Objects {
  const ownNode = new OwnNode();
  ownNode.handle({ type: 'added', to: localNode(nodeName) });
  const source = new FilesSource({ path, nodeName, localNode: () => localNode(nodeName), allowLoopbackEndpoints });
  resources.add('objects', () => source.close());
  return {
    source,
    client: undefined,
    ownNode,
    lookup: source.objects,
    versions: () => NO_VERSIONS,
    watches: () => [],
    serviceReference: ({ namespace, name }) => serviceReference({ namespace, name }),
  };
}

async function openCluster(
  options: DaemonOptions,
  nodeName: string,
  observability: Observability,
  resources: OpenResources,
): Promise<Objects> {
  const { configuration, log } = options;
  const { metrics, checks, input, history } = observability;
  const client = openClient(options, metrics);
  resources.add('API client', () => client.close());
  observability.connectEvents(client);
  const watchChecks = new WatchChecks();
  const source = new ClusterSource({
    client,
    nodeName,
    accept: client.accept(),
    resyncMs: toMilliseconds(configuration.configSyncPeriod),
    silenceMs: watchSilenceMs(process.env, log),
    report: watchReporter(log, metrics, watchChecks, input, history),
  });
  resources.add('objects', () => source.close());
  watchChecks.addTo(checks, source);
  const ownNode = new OwnNode();
  await watchOwnNode(source, ownNode, options);
  await waitForNode(ownNode, nodeName, configuration.detectLocalMode === 'NodeCIDR', log);
  return {
    source,
    client,
    ownNode,
    lookup: source.objects,
    versions: () => ({ services: source.services.version, endpointSlices: source.endpointSlices.version }),
    watches: () => source.following().map(watch => ({ ...watch, problem: watchChecks.problemOf(watch.path) })),
    serviceReference: ({ namespace, name }) => {
      const { uid } = source.services.get(objectKey({ namespace, name }))?.metadata ?? {};
      return serviceReference({ namespace, name, uid });
    },
  };
}

function openClient({ configuration, log, master }: DaemonOptions, metrics: ProxyMetrics): ConfiguredApiClient {
  const { clientConnection } = configuration;
  return createApiClient({
    kubeconfig: clientConnection.kubeconfig,
    master,
    clientConnection,
    log,
    observe: observation => metrics.restObserved(observation),
  });
}

/** Without its Node the proxy does not know its own addresses. So it waits for the API server without a limit. */
function watchOwnNode(source: ClusterSource, ownNode: OwnNode, { log }: DaemonOptions): Promise<void> {
  log.info('server', 'Waiting for the API server');
  return new Promise(resolve => {
    source.node.addHandler({
      changed: change => ownNode.handle(change),
      synced: resolve,
    });
    source.node.start();
  });
}
