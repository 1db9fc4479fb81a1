import assert from 'node:assert/strict';
import type { Backend } from '../../src/kernel/iptables/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { SILENT_EVENTS } from '../../src/modes/index.ts';
import { createProxy, MASQUERADE_BIT, type ProxyMode, syncIntervals } from '../../src/proxy/index.ts';
import { handOver, NODE_NAME } from './case-objects.ts';
import type { CaseSettings } from './settings.ts';
import type { RunningProxy, StartProxy } from './suite.ts';

/** The proxy as the program wires it, in the node's namespace; the suite is its source. */
export function startProxyIn(mode: ProxyMode, backend?: Backend): StartProxy {
  return async ({ cluster, settings }) => startProxy(mode, cluster.node, settings, backend);
}

export function startProxy(
  mode: ProxyMode,
  namespace: NetworkNamespace,
  { plan: settings, nodePortAddresses, localhostNodePorts }: CaseSettings,
  backend?: Backend,
): RunningProxy {
  const config = {
    nodeName: NODE_NAME,
    live: { settings, nodePortAddresses, masqueradeBit: MASQUERADE_BIT, intervals: syncIntervals(0, 1000) },
    namespace,
    mode,
    iptables: { localhostNodePorts, backend },
    userspace: { drainMs: 200, udpIdleTimeoutMs: 1000 },
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
}
