import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { SILENT_EVENTS } from '../../src/modes/index.ts';
import { DEFAULT_PLAN_SETTINGS } from '../../src/plan/index.ts';
import { createProxy, MASQUERADE_BIT, type ProxyMode, syncIntervals } from '../../src/proxy/index.ts';
import { rulesOf, stateWithoutRules } from '../support/ipvs-state.ts';
import { createNodeNamespace } from '../support/namespaces.ts';
import { service, slice } from '../support/objects.ts';

/** One Service through a proxy of the mode, which then ends. */
async function runMode(mode: ProxyMode, namespace: NetworkNamespace): Promise<void> {
  const failed = (what: string, error: unknown) => assert.fail(`${what}: ${error}`);
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
      loop: { ...loop, syncFailed: failed, failed },
      mode: { ...SILENT_EVENTS, failed },
      staleFlowsCleaned: nothing,
    },
  );
  proxy.loop.serviceChanged({ type: 'added', to: service('web', { ports: [{ nodePort: 30080 }] }) });
  proxy.loop.endpointSliceChanged({ type: 'added', to: slice('web-1', ['10.244.1.1']) });
  proxy.loop.synced();
  await proxy.loop.settled();
  await proxy.close();
}

/** The state after one mode took over from another, and that of a machine that never had another. */
async function switchModes(from: ProxyMode, to: ProxyMode) {
  const switched = createNodeNamespace();
  const fresh = createNodeNamespace();
  // Jumps that are there already stay where they are, so their order may differ. KUBE-FIREWALL is the kubelet's too.
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
    const { switched, fresh } = await switchModes(from, to);
    assert.deepEqual(switched, fresh);
  });
}
