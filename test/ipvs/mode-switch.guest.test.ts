import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { SILENT_EVENTS } from '../../src/modes/index.ts';
import { DEFAULT_PLAN_SETTINGS } from '../../src/plan/index.ts';
import { createProxy, MASQUERADE_BIT, type ProxyMode, syncIntervals } from '../../src/proxy/index.ts';
import { nodeNamespace } from '../support/ipvs-node.ts';
import { rulesOf, sortedLines, stateWithoutRules } from '../support/ipvs-state.ts';
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
  proxy.loop.service({ type: 'added', object: service('web', { ports: [{ nodePort: 30080 }] }) });
  proxy.loop.endpointSlice({ type: 'added', object: slice('web-1', ['10.244.1.1']) });
  proxy.loop.synced();
  await proxy.loop.settled();
  await proxy.close();
}

test('IPVS-22 iptables mode removes what ipvs mode left, and nothing of its own', async () => {
  const switched = nodeNamespace();
  const fresh = nodeNamespace();
  try {
    await runMode('ipvs', switched);
    assert.match(stateWithoutRules(switched)['ipvs.txt'] ?? '', /-A -t 10\.96\.0\.1:80/);
    await runMode('iptables', switched);
    await runMode('iptables', fresh);
    assert.deepEqual(stateWithoutRules(switched), { 'addrs.txt': 'absent\n', 'ipset.txt': '\n', 'ipvs.txt': '\n' });
    // Jumps that are there already stay where they are, so only their order may differ.
    assert.equal(sortedLines(rulesOf(switched, 'IPv4')), sortedLines(rulesOf(fresh, 'IPv4')));
  } finally {
    switched.close();
    fresh.close();
  }
});
