import assert from 'node:assert/strict';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { type ModeEvents, SILENT_EVENTS } from '../../src/modes/index.ts';
import { FAMILIES, type Family } from '../../src/net/index.ts';
import { createProxy, MASQUERADE_BIT, syncIntervals } from '../../src/proxy/index.ts';
import { handOver, type ObjectChanges } from '../traffic/case-objects.ts';
import type { CaseSettings } from '../traffic/settings.ts';

export interface IpvsProxyOptions {
  readonly families?: readonly Family[];
  readonly measured?: ModeEvents['measured'];
}

/** The proxy in ipvs mode as the program wires it, in a namespace; whoever has it is its source. */
export function startIpvsProxy(
  namespace: NetworkNamespace,
  settings: CaseSettings,
  nodeName: string,
  { families = FAMILIES, measured = () => {} }: IpvsProxyOptions = {},
) {
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
  const { loop, close } = createProxy(
    {
      mode: 'ipvs',
      ipvs: { scheduler: settings.scheduler, strictARP: settings.strictARP },
      nodeName,
      families,
      live: {
        settings: settings.plan,
        nodePortAddresses: settings.nodePortAddresses,
        masqueradeBit: MASQUERADE_BIT,
        intervals: syncIntervals(0, 1000),
      },
      namespace,
    },
    { loop: listener, mode: { ...SILENT_EVENTS, failed, measured }, staleFlowsCleaned: () => {} },
  );
  let isSynced = false;
  return {
    async apply(...changes: readonly ObjectChanges[]): Promise<void> {
      for (const each of changes) handOver(each, loop);
      if (!isSynced) loop.synced();
      isSynced = true;
      await loop.settled();
    },
    close,
  };
}
