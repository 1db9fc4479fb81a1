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

for (const [mode, count] of [
  ['nftables', 10_000],
  ['iptables', 1000],
] as const) {
  test(`ENDING-1 ENDING-3 in ${mode} mode with ${count} connections, all of a gone endpoint end and no others`, async t => {
    const lab = new EndingLab(mode);
    try {
      const client = lab.addClient(CLIENT);
      for (const ip of [GONE, OTHER]) lab.addEndpoint(ip);
      await lab.setService(service('web', { clusterIP: WEB, annotations: RESET }), [GONE, OTHER]);
      await lab.setService(service('shop', { clusterIP: SHOP }), [GONE, OTHER]);
      const web = await lab.connect(client, WEB, 80, count);
      const shop = await lab.connect(client, SHOP, 80, 100);
      const direct = await lab.connect(client, GONE, 8080, 100);
      const endpoints = lab.endpointsOf(WEB, 80);
      const kept = web.ports.filter(port => endpoints.get(port) === OTHER);

      const start = performance.now();
      await lab.setEndpoints('web', [OTHER]);
      await waitFor('the connections have ended', () => lab.reports.length > 0);
      const took = performance.now() - start;
      t.diagnostic(`${count - kept.length} connections ended in ${took.toFixed(0)} ms`);
      assert.deepEqual(web.open, kept);
      assert.deepEqual(web.takeErrors(), ['ECONNABORTED']);
      assert.equal(shop.open.length, 100);
      assert.equal(direct.open.length, 100);
      const [report] = lab.reports;
      const ended = count - kept.length;
      assert.deepEqual([...(report?.ended.values() ?? [])], [{ connections: ended, sockets: ended }]);
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

test('ENDING-3 a Service that names the address of another one does not end connections of that one', async () => {
  const lab = new EndingLab('nftables');
  try {
    const client = lab.addClient(CLIENT);
    for (const ip of [GONE, OTHER]) lab.addEndpoint(ip);
    await lab.setService(service('web', { clusterIP: WEB }), [GONE]);
    const rival = { clusterIP: SHOP, externalIPs: [WEB], annotations: RESET };
    await lab.setService(service('rival', rival), [GONE, OTHER]);
    const web = await lab.connect(client, WEB, 80, 10);
    await lab.setEndpoints('rival', [OTHER]);
    await waitFor('the proxy has looked', () => lab.reports.length > 0);
    assert.equal(web.open.length, 10);
    assert.deepEqual(lab.reports[0]?.ended.size, 0);
  } finally {
    await lab.close();
  }
});

test('ENDING-6 in userspace mode both sides of relayed connections to a gone endpoint are reset, and no others', async () => {
  const lab = new EndingLab('userspace');
  try {
    const client = lab.addClient(CLIENT);
    for (const ip of [GONE, OTHER]) lab.addEndpoint(ip);
    await lab.setService(service('web', { clusterIP: WEB, annotations: RESET }), [GONE, OTHER]);
    await lab.setService(service('shop', { clusterIP: SHOP }), [GONE, OTHER]);
    const web = await lab.connect(client, WEB, 80, 20);
    const shop = await lab.connect(client, SHOP, 80, 20);
    await waitFor('all are relayed', async () => {
      const counts = await lab.proxy.mode.connectionCounts?.();
      return counts?.get('default/web') === 20 && counts.get('default/shop') === 20;
    });
    await lab.setEndpoints('web', [OTHER]);
    await waitFor('the connections have ended', () => lab.reports.length > 0);
    const [count] = lab.reports[0]?.ended.values() ?? [];
    assert.ok(count !== undefined && count.connections > 0);
    await waitFor('the clients notice it', () => web.open.length === 20 - count.connections);
    assert.deepEqual(web.takeErrors(), ['ECONNRESET']);
    assert.equal(shop.open.length, 20);
  } finally {
    await lab.close();
  }
});

test('ENDING-5 a client that still waits for the endpoint reaches another one', async () => {
  const lab = new EndingLab('nftables');
  try {
    const client = lab.addClient(CLIENT);
    lab.addEndpoint(OTHER);
    // No machine has this address, so SYN gets no answer.
    const silent = '10.244.2.99' as Ip;
    await lab.setService(service('web', { clusterIP: WEB, annotations: RESET }), [silent]);
    const waiting = lab.begin(client, WEB, 80, 3);
    await waitFor('the clients have sent SYN', () => lab.endpointsOf(WEB, 80).size === 3);
    await lab.setEndpoints('web', [OTHER]);
    await waitFor('their next SYN reaches another endpoint', () => waiting.areConnected());
  } finally {
    await lab.close();
  }
});

test('ENDING-8 the proxy reports why it could not end sockets of pods', async () => {
  const lab = new EndingLab('nftables');
  try {
    lab.addEndpoint(GONE);
    await lab.setService(service('web', { clusterIP: WEB, annotations: RESET }), [GONE]);
    // The lab does not name the namespace of this pod to the proxy.
    const pod = lab.cluster.addPod(CLIENT, undefined, { sendsThroughNode: true });
    const hidden = await lab.connect(pod, WEB, 80, 3);
    await lab.setEndpoints('web', []);
    await waitFor('the flows are gone', () => lab.reports.length > 0);
    assert.match(lab.reports[0]?.problem ?? '', /sees no network namespaces of pods/);
    assert.equal(hidden.open.length, 3);
    hidden.speak();
    await waitFor('the kernel answers by RST', () => hidden.open.length === 0);
  } finally {
    await lab.close();
  }
});

test('ENDING-7 in ebpf mode translated sockets to a gone endpoint end, and no others', async () => {
  const lab = new EndingLab('ebpf');
  try {
    const { node } = lab.cluster;
    for (const ip of [GONE, OTHER]) lab.addEndpoint(ip);
    await lab.setService(service('web', { clusterIP: WEB, annotations: RESET }), [GONE]);
    await lab.setService(service('shop', { clusterIP: SHOP }), [GONE]);
    const web = await lab.connect(node, WEB, 80, 20);
    const shop = await lab.connect(node, SHOP, 80, 20);
    const direct = await lab.connect(node, GONE, 8080, 20);
    assert.equal(lab.endpointsOf(WEB, 80).size, 0, 'no packet goes to the Service');
    await lab.setEndpoints('web', [OTHER]);
    await waitFor('the connections have ended', () => lab.reports.length > 0);
    assert.deepEqual([...(lab.reports[0]?.ended.values() ?? [])], [{ connections: 20, sockets: 20 }]);
    assert.equal(web.open.length, 0);
    assert.deepEqual(web.takeErrors(), ['ECONNABORTED']);
    assert.deepEqual([shop.open.length, direct.open.length], [20, 20]);
  } finally {
    await lab.close();
  }
});

test('ENDING-3 ENDING-4 IPv6 connections to a gone endpoint end too', async () => {
  const lab = new EndingLab('nftables');
  try {
    const endpoint = 'fd00:10:244:1::10' as Ip;
    const web = 'fd00:10:96::1' as Ip;
    const client = lab.addClient('fd00:10:244:1::20' as Ip);
    const hidden = lab.cluster.addPod('fd00:10:244:1::21' as Ip, undefined, { sendsThroughNode: true });
    lab.addEndpoint(endpoint);
    await lab.setService(service('web', { clusterIP: web, annotations: RESET }), [endpoint]);
    const seen = await lab.connect(client, web, 80, 10);
    const unseen = await lab.connect(hidden, web, 80, 10);
    await lab.setEndpoints('web', []);
    await waitFor('the connections have ended', () => lab.reports.length > 0);
    assert.deepEqual([...(lab.reports[0]?.ended.values() ?? [])], [{ connections: 20, sockets: 10 }]);
    assert.deepEqual([seen.open.length, unseen.open.length], [0, 10]);
    unseen.speak();
    await waitFor('the kernel answers by RST', () => unseen.open.length === 0);
  } finally {
    await lab.close();
  }
});

test('ENDING-1 ENDING-2 with drain nothing ends, and with drain-then-reset connections end after the time', async () => {
  const lab = new EndingLab('nftables');
  try {
    const client = lab.addClient(CLIENT);
    lab.addEndpoint(GONE);
    const later = {
      'pointsman.dev/endpoint-end': 'drain-then-reset',
      'pointsman.dev/endpoint-end-grace-seconds': '1',
    };
    await lab.setService(service('web', { clusterIP: WEB, annotations: later }), [GONE]);
    await lab.setService(service('shop', { clusterIP: SHOP }), [GONE]);
    const web = await lab.connect(client, WEB, 80, 10);
    const shop = await lab.connect(client, SHOP, 80, 10);
    await lab.setEndpoints('shop', []);
    const start = performance.now();
    await lab.setEndpoints('web', []);
    await waitFor('the connections have ended', () => lab.reports.length > 0);
    assert.ok(performance.now() - start >= 1000, 'not before the time is over');
    assert.deepEqual([web.open.length, shop.open.length], [0, 10]);
    assert.equal(lab.endpointsOf(SHOP, 80).size, 10);
  } finally {
    await lab.close();
  }
});
