import assert from 'node:assert/strict';
import { SILENT_EVENTS } from '../../src/modes/index.ts';
import { createProxy } from '../../src/proxy/index.ts';
import { handOver, type StartProxy, trafficSuite } from './suite.ts';

/** The proxy as the program wires it, in the node's namespace; the suite is its source. */
const startProxy: StartProxy = async ({ cluster, settings, nodeName }) => {
  const config = {
    nodeName,
    settings: settings.plan,
    nodePortAddresses: settings.nodePortAddresses,
    minSyncPeriodMs: 0,
    syncPeriodMs: 1000,
    namespace: cluster.node,
  };
  const failed = (what: string, error: unknown) => assert.fail(`${what}: ${error}`);
  const log = { problem: () => {}, recovered: () => {}, synced: () => {}, failed };
  const { loop, close } = createProxy(config, { log, mode: { ...SILENT_EVENTS, failed }, staleFlowsDeleted: () => {} });
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
