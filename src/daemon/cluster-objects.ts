import { objectKey } from '../api/index.ts';
import { createApiClient } from '../client/index.ts';
import { serviceReference } from '../events/index.ts';
import type { Checks } from '../health/index.ts';
import { toMilliseconds } from '../lib/duration.ts';
import { ClusterSource } from '../source/index.ts';
import type { Closers } from './closers.ts';
import { namesOf } from './events.ts';
import type { Objects } from './objects.ts';
import type { DaemonOptions } from './options.ts';
import { OwnNode } from './own-node.ts';
import type { Surroundings } from './surroundings.ts';
import { waitForNode } from './wait-for-node.ts';

/** Objects from the API server, once the Node is known. */
export async function clusterObjects(
  options: DaemonOptions,
  nodeName: string,
  surroundings: Surroundings,
  closers: Closers,
): Promise<Objects> {
  const { configuration, log, master } = options;
  const { metrics, checks } = surroundings;
  const { clientConnection } = configuration;
  const say =
    (severity: 'info' | 'warning' | 'error') => (message: string, fields?: Readonly<Record<string, unknown>>) =>
      log[severity]('client', message, fields);
  const client = createApiClient({
    kubeconfig: clientConnection.kubeconfig,
    master,
    clientConnection,
    log: { info: say('info'), warning: say('warning'), error: say('error') },
    observe: observation => metrics.restObserved(observation),
  });
  closers.add('API client', () => client.close());
  surroundings.connected(client);
  const source = new ClusterSource({
    client,
    nodeName,
    accept: client.accept(),
    resyncMs: toMilliseconds(configuration.configSyncPeriod),
    report: {
      problem: ({ where, object, field, message }) =>
        log.error('reflector', 'Failed to follow', { where, object, field, err: message }),
      recovered: where => log.info('reflector', 'Is followed again', { where }),
      heard: path => metrics.watchHeard(path),
    },
  });
  closers.add('objects', () => source.close());
  addChecks(checks, source);
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

/** Whether all objects have come, and how long the watch has been silent since. */
function addChecks(checks: Checks, source: ClusterSource): void {
  for (const { path } of source.following()) {
    checks.add(`watch ${path}`, () => {
      const following = source.following().find(other => other.path === path);
      if (!following?.hasSynced) return 'not all objects have come yet';
      return { note: `last heard of ${Math.round((following.silentMs ?? 0) / 1000)} s ago` };
    });
  }
}

/** Without its Node the proxy does not know its own addresses, so it waits for the API server as long as it takes. */
function followOwnNode(source: ClusterSource, ownNode: OwnNode, { log }: DaemonOptions): Promise<void> {
  log.info('server', 'Waiting for the API server');
  return new Promise(resolve => {
    source.node.addHandler({
      added: object => ownNode.handle({ type: 'added', object }),
      updated: (old, object) => ownNode.handle({ type: 'updated', old, object }),
      deleted: object => ownNode.handle({ type: 'removed', object }),
      synced: resolve,
    });
    source.node.start();
  });
}
