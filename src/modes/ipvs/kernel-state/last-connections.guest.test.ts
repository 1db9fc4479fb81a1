import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { EndingLab } from '../../../../test/support/ending-lab.ts';
import { service, slice } from '../../../../test/support/objects.ts';
import { waitFor } from '../../../../test/support/wait-for.ts';
import { caseSettings } from '../../../../test/traffic/settings.ts';
import { startProxy } from '../../../../test/traffic/start-proxy.ts';
import type { Ip } from '../../../net/index.ts';
import { hasIpvsLeftovers } from '../cleanup.ts';

const ENDPOINT = '10.244.2.10' as Ip;

test('IPT-14 virtual servers stay until the connections through them have ended', async () => {
  const lab = new EndingLab('ipvs');
  const { node } = lab.cluster;
  const web = service('web', { type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] });
  try {
    lab.addEndpoint(ENDPOINT);
    await lab.setService(web, [ENDPOINT]);
    const outside = await lab.connect(lab.cluster.host('ext'), '192.168.0.2' as Ip, 30080, 5);
    await lab.proxy.close();
    const next = startProxy('iptables', node, caseSettings({}, 'iptables'));
    try {
      await next.apply({
        nodes: [],
        serviceCidrs: [],
        services: [{ type: 'added', to: web }],
        endpointSlices: [{ type: 'added', to: slice('web-1', [ENDPOINT]) }],
      });
      await delay(2500);
      assert.ok(hasIpvsLeftovers(node));
      outside.close();
      await waitFor('the virtual servers are gone', () => !hasIpvsLeftovers(node), { timeoutMs: 6000 });
    } finally {
      await next.close();
    }
  } finally {
    await lab.close();
  }
});
