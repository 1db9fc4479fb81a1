import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { type ConfiguredMode, SILENT_EVENTS, withOptions } from '../../src/modes/index.ts';
import { iptables } from '../../src/modes/iptables/index.ts';
import { ipvs } from '../../src/modes/ipvs/index.ts';
import { DEFAULT_PLAN_SETTINGS } from '../../src/plan/index.ts';
import { createProxy, MASQUERADE_BIT, syncIntervals } from '../../src/proxy/index.ts';
import { rulesOf, stateWithoutRules } from '../support/ipvs-state.ts';
import { createNodeNamespace } from '../support/namespaces.ts';
import { service, slice } from '../support/objects.ts';

const MODES = { ipvs: withOptions(ipvs, {}), iptables: withOptions(iptables, {}) };

/** Programs one Service with a proxy, and closes the proxy. */
async function runMode(mode: ConfiguredMode, namespace: NetworkNamespace): Promise<void> {
  const failed = (action: string, error: unknown) => assert.fail(`could not ${action}: ${error}`);
  const nothing = () => {};
  const loop = { problem: nothing, recovered: nothing, queued: nothing, syncStarted: nothing, synced: nothing };
  const proxy = createProxy(
    {
      mode,
      namespace,
      nodeName: 'node-a',
      families: ['IPv4'],
      live: {
        settings: DEFAULT_PLAN_SETTINGS,
        nodePortAddresses: [],
        masqueradeBit: MASQUERADE_BIT,
        intervals: syncIntervals(0, 1000),
      },
    },
    {
      loop: { ...loop, syncFailed: (family, { error }) => failed(`sync ${family}`, error), failed },
      mode: { ...SILENT_EVENTS, failed: ({ action, error }) => failed(action, error) },
      staleFlowsCleaned: nothing,
    },
  );
  proxy.loop.service({ type: 'added', to: service('web', { ports: [{ nodePort: 30080 }] }) });
  proxy.loop.endpointSlice({ type: 'added', to: slice('web-1', ['10.244.1.1']) });
  proxy.loop.synced();
  await proxy.loop.settled();
  await proxy.close();
}

/** The state after one mode took over from another, and the state of a machine that never had another mode. */
async function switchModes(from: ConfiguredMode, to: ConfiguredMode) {
  const switched = createNodeNamespace();
  const fresh = createNodeNamespace();
  // Jumps that exist stay where they are, so their order may differ. KUBE-FIREWALL belongs to the kubelet too.
  const rules = (namespace: NetworkNamespace) =>
    rulesOf(namespace, 'IPv4')
      .split('\n')
      .filter(line => /^(-A|:KUBE)/.test(line) && !line.includes('KUBE-FIREWALL'))
      .sort();
  const state = (namespace: NetworkNamespace) => ({ ...stateWithoutRules(namespace), rules: rules(namespace) });
  try {
    await runMode(from, switched);
    await runMode(to, switched);
    await runMode(to, fresh);
    return { switched: state(switched), fresh: state(fresh) };
  } finally {
    switched.close();
    fresh.close();
  }
}

for (const [from, to] of [
  ['ipvs', 'iptables'],
  ['iptables', 'ipvs'],
] as const) {
  test(`IPVS-22 ${to} mode removes what ${from} mode left, and nothing of its own`, async () => {
    const { switched, fresh } = await switchModes(MODES[from], MODES[to]);
    assert.deepEqual(switched, fresh);
  });
}
