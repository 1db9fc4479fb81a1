import assert from 'node:assert/strict';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { type ModeEvents, SILENT_EVENTS, withOptions } from '../../src/modes/index.ts';
import { ipvs } from '../../src/modes/ipvs/index.ts';
import { FAMILIES, type Family } from '../../src/net/index.ts';
import { createProxy, MASQUERADE_BIT, syncIntervals } from '../../src/proxy/index.ts';
import { handOver, type ObjectChanges } from '../traffic/case-objects.ts';
import type { CaseSettings } from '../traffic/settings.ts';

export interface IpvsProxyOptions {
  readonly families?: readonly Family[];
  readonly measured?: ModeEvents['measured'];
}

/** The proxy in ipvs mode, with its parts as in the program. The caller is its source. It fails if anything fails. */
export function startIpvsProxy(
  namespace: NetworkNamespace,
  settings: CaseSettings,
  nodeName: string,
  { families = FAMILIES, measured = () => {} }: IpvsProxyOptions = {},
) {
  const listener = {
    problem: () => {},
    recovered: () => {},
    queued: () => {},
    syncStarted: () => {},
    synced: () => {},
    syncFailed: (family: Family, { error }: { readonly error: unknown }) =>
      assert.fail(`could not sync ${family}: ${error}`),
    failed: (action: string, error: unknown) => assert.fail(`could not ${action}: ${error}`),
  };
  const events: ModeEvents = {
    ...SILENT_EVENTS,
    measured,
    failed: ({ action, error }) => assert.fail(`could not ${action}: ${error}`),
  };
  const { loop, close } = createProxy(
    {
      mode: withOptions(ipvs, { scheduler: settings.scheduler, strictARP: settings.strictARP }),
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
    { loop: listener, mode: events, staleFlowsCleaned: () => {} },
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
