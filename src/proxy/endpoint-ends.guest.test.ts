import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EndingLab } from '../../test/support/ending-lab.ts';
import { service } from '../../test/support/objects.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Ip } from '../net/index.ts';

const WEB = '10.96.0.1' as Ip;
const RESET = { 'pointsman.dev/endpoint-end': 'reset' };

test('ENDING-10 in ipvs mode the next packet to a gone endpoint is answered by TCP RST, and other connections go on', async () => {
  const lab = new EndingLab('ipvs');
  try {
    const [gone, other] = ['10.244.2.10', '10.244.2.11'] as [Ip, Ip];
    const client = lab.addClient('10.244.1.20' as Ip);
    for (const ip of [gone, other]) lab.addEndpoint(ip);
    const ports = [{ port: 80, nodePort: 30080 }];
    await lab.setService(service('web', { type: 'NodePort', clusterIP: WEB, annotations: RESET, ports }), [
      gone,
      other,
    ]);
    const web = await lab.connect(client, WEB, 80, 20);
    const outside = await lab.connect(lab.cluster.host('ext'), '192.168.0.2' as Ip, 30080, 20);
    await lab.setEndpoints('web', [other]);
    await waitFor('the connections have ended', () => lab.reports.length > 0);
    const [count] = lab.reports[0]?.ended.values() ?? [];
    // The scheduler takes the endpoints in turns. The kernel of a guest may be too old to end sockets.
    assert.equal(count?.connections, 20);
    for (const crowd of [web, outside]) {
      crowd.speak();
      await waitFor('the kernel answers by RST', () => crowd.open.length === 10);
    }
  } finally {
    await lab.close();
  }
});
