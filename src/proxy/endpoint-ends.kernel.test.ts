import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EndingLab } from '../../test/support/ending-lab.ts';
import { service } from '../../test/support/objects.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Ip } from '../net/index.ts';

const GONE = '10.244.1.10' as Ip;
const OTHER = '10.244.1.11' as Ip;
const CLIENT = '10.244.1.20' as Ip;
const WEB = '10.96.0.1' as Ip;
const SHOP = '10.96.0.2' as Ip;
const RESET = { 'pointsman.dev/endpoint-end': 'reset' };
const CONNECTIONS = 10_000;

for (const mode of ['nftables', 'iptables'] as const) {
  test(`ENDING-1 ENDING-3 in ${mode} mode all connections of a gone endpoint end within a second, and no others`, async t => {
    const lab = new EndingLab(mode);
    try {
      const client = lab.addClient(CLIENT);
      for (const ip of [GONE, OTHER]) lab.addEndpoint(ip);
      await lab.setService(service('web', { clusterIP: WEB, annotations: RESET }), [GONE, OTHER]);
      await lab.setService(service('shop', { clusterIP: SHOP }), [GONE, OTHER]);
      const web = await lab.connect(client, WEB, 80, CONNECTIONS);
      const shop = await lab.connect(client, SHOP, 80, 100);
      const direct = await lab.connect(client, GONE, 8080, 100);
      const endpoints = lab.endpointsOf(WEB, 80);
      const kept = web.ports.filter(port => endpoints.get(port) === OTHER);

      const start = performance.now();
      await lab.setEndpoints('web', [OTHER]);
      await waitFor('the connections have ended', () => lab.reports.length > 0);
      const took = performance.now() - start;
      t.diagnostic(`${CONNECTIONS - kept.length} connections ended in ${took.toFixed(0)} ms`);
      assert.deepEqual(web.open, kept);
      assert.deepEqual(web.takeErrors(), ['ECONNABORTED']);
      assert.equal(shop.open.length, 100);
      assert.equal(direct.open.length, 100);
      const [report] = lab.reports;
      const ended = CONNECTIONS - kept.length;
      assert.deepEqual([...(report?.ended.values() ?? [])], [{ connections: ended, sockets: ended }]);
      assert.ok(took < 1000, `it took ${took} ms`);
    } finally {
      await lab.close();
    }
  });
}

for (const mode of ['nftables', 'iptables'] as const) {
  test(`ENDING-4 in ${mode} mode the next packet of a client elsewhere is answered by TCP RST`, async () => {
    const lab = new EndingLab(mode);
    try {
      const ext = lab.cluster.host('ext');
      const [gone, other] = ['10.244.2.10', '10.244.2.11'] as [Ip, Ip];
      for (const ip of [gone, other]) lab.addEndpoint(ip);
      const ports = [{ port: 80, nodePort: 30080 }];
      await lab.setService(service('web', { type: 'NodePort', clusterIP: WEB, annotations: RESET, ports }), [gone]);
      const clients = await lab.connect(ext, '192.168.0.2' as Ip, 30080, 20);
      await lab.setEndpoints('web', [other]);
      await waitFor('the flows are gone', () => lab.reports.length > 0);
      assert.deepEqual([...(lab.reports[0]?.ended.values() ?? [])], [{ connections: 20, sockets: 0 }]);
      assert.equal(clients.open.length, 20);
      clients.speak();
      await waitFor('another endpoint answers by RST', () => clients.open.length === 0, { timeoutMs: 3000 });
      assert.deepEqual(clients.takeErrors(), ['ECONNRESET']);
      const later = await lab.connect(ext, '192.168.0.2' as Ip, 30080, 20);
      await lab.setEndpoints('web', []);
      await waitFor('the flows are gone', () => lab.reports.length > 1);
      later.speak();
      await waitFor('the node answers by RST', () => later.open.length === 0, { timeoutMs: 3000 });
    } finally {
      await lab.close();
    }
  });
}
