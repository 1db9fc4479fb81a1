import assert from 'node:assert/strict';
import { SILENT_EVENTS } from '../../src/modes/index.ts';
import { DEFAULT_PLAN_SETTINGS } from '../../src/plan/index.ts';
import { type LiveConfig, MASQUERADE_BIT, type ProxyListeners, syncIntervals } from '../../src/proxy/index.ts';

/** The defaults, and syncs without a pause. */
export const TEST_LIVE: LiveConfig = {
  settings: DEFAULT_PLAN_SETTINGS,
  nodePortAddresses: [],
  masqueradeBit: MASQUERADE_BIT,
  intervals: syncIntervals(0, 1000),
};

/** Fails the test if the proxy reports a failure. Other reports are ignored. */
export const STRICT_LISTENERS: ProxyListeners = {
  loop: {
    problem: () => {},
    recovered: () => {},
    queued: () => {},
    syncStarted: () => {},
    synced: () => {},
    syncFailed: (_family, { error }) => failed('sync', error),
    failed,
  },
  mode: SILENT_EVENTS,
  staleFlowsCleaned: () => {},
  connectionsNotEnded: (_family, _ended, error) => failed('end connections', error),
};

function failed(action: string, error: unknown): never {
  assert.fail(`could not ${action}: ${error}`);
}
