import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { rulesOf, stateWithoutRules } from '../support/ipvs-state.ts';
import { createNodeNamespace } from '../support/namespaces.ts';
import { service, slice } from '../support/objects.ts';
import type { Mode } from '../traffic/modes.ts';
import { caseSettings } from '../traffic/settings.ts';
import { startProxy } from '../traffic/start-proxy.ts';

/** Runs a proxy until it has programmed one Service. */
async function runMode(mode: Mode, namespace: NetworkNamespace): Promise<void> {
  const proxy = startProxy(mode, namespace, caseSettings({}, mode), { families: ['IPv4'] });
  await proxy.apply({
    nodes: [],
    serviceCidrs: [],
    services: [{ type: 'added', to: service('web', { ports: [{ nodePort: 30080 }] }) }],
    endpointSlices: [{ type: 'added', to: slice('web-1', ['10.244.1.1']) }],
  });
  await proxy.close();
}

/** The state after one mode took over from another, and the state of a machine that had only the second mode. */
async function switchModes(from: Mode, to: Mode) {
  const switched = createNodeNamespace();
  const fresh = createNodeNamespace();
  // Jumps that exist stay where they are, so their order may differ. The kubelet uses KUBE-FIREWALL too.
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
  test(`IPVS-22 ${to} mode removes everything that ${from} mode left, and nothing of its own`, async () => {
    const { switched, fresh } = await switchModes(from, to);
    assert.deepEqual(switched, fresh);
  });
}
