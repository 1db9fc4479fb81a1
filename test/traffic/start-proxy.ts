import assert from 'node:assert/strict';
import type { Backend } from '../../src/kernel/iptables/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { type ModeEvents, SILENT_EVENTS } from '../../src/modes/index.ts';
import { FAMILIES, type Family } from '../../src/net/index.ts';
import { createProxy, MASQUERADE_BIT, type ProxyMode, syncIntervals } from '../../src/proxy/index.ts';
import { handOver, NODE_NAME } from './case-objects.ts';
import type { CaseSettings } from './settings.ts';
import type { RunningProxy, StartProxy } from './suite.ts';

export interface StartOptions {
  /** For iptables mode. The default is the backend that the mode detects. */
  readonly backend?: Backend;
  readonly families?: readonly Family[];
  readonly measured?: ModeEvents['measured'];
}

/** For a suite: starts the proxy on the cluster's node. */
export function startProxyIn(mode: ProxyMode): StartProxy {
  return async ({ cluster, settings }) => startProxy(mode, cluster.node, settings);
}

/** Starts the proxy as the program does, but the test is its source. An error of the proxy fails the test. */
export function startProxy(
  mode: ProxyMode,
  namespace: NetworkNamespace,
  settings: CaseSettings,
  { backend, families = FAMILIES, measured = () => {} }: StartOptions = {},
): RunningProxy {
  const failed = (what: string, error: unknown) => assert.fail(`${what}: ${error}`);
  const { loop, close } = createProxy(
    {
      mode,
      nodeName: NODE_NAME,
      namespace,
      families,
      live: {
        settings: settings.plan,
        nodePortAddresses: settings.nodePortAddresses,
        masqueradeBit: MASQUERADE_BIT,
        intervals: syncIntervals(0, 1000),
      },
      iptables: { localhostNodePorts: settings.localhostNodePorts, backend },
      ipvs: { scheduler: settings.scheduler, strictARP: settings.strictARP },
      userspace: { drainMs: 200, udpIdleTimeoutMs: 1000 },
    },
    {
      loop: {
        problem: () => {},
        recovered: () => {},
        queued: () => {},
        syncStarted: () => {},
        synced: () => {},
        syncFailed: failed,
        failed,
      },
      mode: { ...SILENT_EVENTS, failed, measured },
      staleFlowsCleaned: () => {},
    },
  );
  let isSynced = false;
  return {
    async apply(...changes) {
      for (const each of changes) handOver(each, loop);
      if (!isSynced) loop.synced();
      isSynced = true;
      await loop.settled();
    },
    close,
  };
}
