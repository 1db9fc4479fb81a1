import assert from 'node:assert/strict';
import { SILENT_EVENTS } from '../../src/modes/index.ts';
import { createProxy, MASQUERADE_BIT, syncIntervals } from '../../src/proxy/index.ts';
import { handOver, type StartProxy, trafficSuite } from './suite.ts';

/** The proxy as the program wires it, in the node's namespace; the suite is its source. */
const startProxy: StartProxy = async ({ cluster, settings, nodeName }) => {
  const config = {
    mode: 'userspace' as const,
    userspace: { drainMs: 200, udpIdleTimeoutMs: 1000 },
    nodeName,
    live: {
      settings: settings.plan,
      nodePortAddresses: settings.nodePortAddresses,
      masqueradeBit: MASQUERADE_BIT,
      intervals: syncIntervals(0, 1000),
    },
    namespace: cluster.node,
  };
  const failed = (what: string, error: unknown) => assert.fail(`${what}: ${error}`);
  const listener = {
    problem: () => {},
    recovered: () => {},
    queued: () => {},
    syncStarted: () => {},
    synced: () => {},
    syncFailed: failed,
    failed,
  };
  const { loop, close } = createProxy(config, {
    loop: listener,
    mode: { ...SILENT_EVENTS, failed },
    staleFlowsCleaned: () => {},
  });
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

trafficSuite('userspace', startProxy);
