import { createProxy } from '../../src/cli/run/proxy.ts';
import { Logger } from '../../src/lib/log.ts';
import { handOver, type StartProxy, trafficSuite } from './suite.ts';

/** The proxy as the program wires it, in the node's namespace; the suite is its source. */
const startProxy: StartProxy = async ({ cluster, settings, nodeName }) => {
  const log = new Logger(() => {});
  const config = {
    nodeName,
    settings: settings.plan,
    nodePortAddresses: settings.nodePortAddresses,
    minSyncPeriodMs: 0,
    syncPeriodMs: 1000,
    namespace: cluster.node,
  };
  const { loop, close } = createProxy(config, log);
  let isSynced = false;
  return {
    async apply(changes) {
      handOver(changes, loop);
      if (!isSynced) loop.synced();
      isSynced = true;
      await loop.settled();
    },
    close,
  };
};

trafficSuite('nftables', startProxy);
