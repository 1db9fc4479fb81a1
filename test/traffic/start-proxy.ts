import assert from 'node:assert/strict';
import type { Backend } from '../../src/kernel/iptables/index.ts';
import { type NetworkNamespace, namespaceCookie } from '../../src/kernel/netns.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { type EbpfOptions, ebpfAround } from '../../src/modes/ebpf/index.ts';
import { type ConfiguredMode, type ModeEvents, SILENT_EVENTS, withOptions } from '../../src/modes/index.ts';
import { iptables } from '../../src/modes/iptables/index.ts';
import { ipvs } from '../../src/modes/ipvs/index.ts';
import { nftables } from '../../src/modes/nftables/index.ts';
import { userspace } from '../../src/modes/userspace/index.ts';
import { FAMILIES, type Family } from '../../src/net/index.ts';
import { createProxy, MASQUERADE_BIT, syncIntervals, type RunningProxy as WholeProxy } from '../../src/proxy/index.ts';
import { testControlGroup } from '../support/bpf-lab.ts';
import { handOver, NODE_NAME } from './case-objects.ts';
import { socketsOfNode } from './matrix.ts';
import type { Mode } from './modes.ts';
import type { CaseSettings } from './settings.ts';
import type { ProxyOptions, RunningProxy } from './suite.ts';

export interface StartOptions {
  /** For iptables mode. The default is the backend that the mode detects. */
  readonly backend?: Backend;
  readonly families?: readonly Family[];
  readonly measured?: ModeEvents['measured'];
  /** The clock of the mode. */
  readonly clock?: Clock;
  /** The default is one second. */
  readonly syncPeriodMs?: number;
  /** For ebpf mode. The default serves the sockets of the node that belong to this process, without pins. */
  readonly sockets?: Partial<EbpfOptions>;
}

/** A proxy on the cluster's node, with the parts that tests look into. */
export interface StartedProxy extends RunningProxy, Pick<WholeProxy, 'loop' | 'mode' | 'live'> {}

/** For a suite: starts the proxy on the cluster's node. */
export function startProxyIn(mode: Mode): (options: ProxyOptions) => Promise<StartedProxy> {
  return async ({ cluster, settings, slices }) => {
    const sockets = { listedNamespaces: socketsOfNode(cluster, slices) };
    return startProxy(mode, cluster.node, settings, { sockets });
  };
}

/** Starts the proxy as the program does, but the test is its source. An error of the proxy fails the test. */
export function startProxy(
  mode: Mode,
  namespace: NetworkNamespace,
  settings: CaseSettings,
  { backend, families = FAMILIES, measured = () => {}, syncPeriodMs = 1000, clock, sockets }: StartOptions = {},
): StartedProxy {
  const failed = (action: string, error: unknown) => assert.fail(`could not ${action}: ${error}`);
  const configured = caseMode({ ...settings, mode }, mode === 'ebpf' ? { ...ownSockets(namespace), ...sockets } : {});
  const {
    loop,
    mode: running,
    live,
    close,
  } = createProxy(
    {
      mode: { ...configured, create: context => configured.create({ ...context, clock }) },
      programs: { backend },
      nodeName: NODE_NAME,
      namespace,
      families,
      live: {
        settings: settings.plan,
        nodePortAddresses: settings.nodePortAddresses,
        masqueradeBit: MASQUERADE_BIT,
        intervals: syncIntervals(0, syncPeriodMs),
      },
    },
    {
      loop: {
        problem: () => {},
        recovered: () => {},
        queued: () => {},
        syncStarted: () => {},
        synced: () => {},
        syncFailed: (_family, { error }) => failed('sync', error),
        failed,
      },
      mode: { ...SILENT_EVENTS, failed: ({ action, error }) => failed(action, error), measured },
      staleFlowsCleaned: () => {},
    },
  );
  let isSynced = false;
  return {
    loop,
    mode: running,
    live,
    async apply(...changes) {
      for (const each of changes) handOver(each, loop);
      if (!isSynced) loop.synced();
      isSynced = true;
      await loop.settled();
    },
    close,
  };
}

/** Other tests run in this process too, so only the sockets of the test's own node are served. */
function ownSockets(namespace: NetworkNamespace): Partial<EbpfOptions> {
  return { cgroupRoot: testControlGroup(), bpffs: '/nowhere', listedNamespaces: [namespaceCookie(namespace)] };
}

/** The mode of a case, with its options. */
export function caseMode(
  { mode, localhostNodePorts, scheduler, strictARP }: CaseSettings,
  sockets: Partial<EbpfOptions> = {},
): ConfiguredMode {
  switch (mode) {
    case 'nftables':
      return withOptions(nftables, {});
    case 'ebpf':
      return withOptions(ebpfAround(nftables), { sockets: { sockets: 'all', ...sockets }, network: {} });
    case 'iptables':
      return withOptions(iptables, { localhostNodePorts });
    case 'ipvs':
      return withOptions(ipvs, { scheduler, strictARP });
    case 'userspace':
      return withOptions(userspace, { drainMs: 200, udpIdleTimeoutMs: 1000 });
  }
}
