import assert from 'node:assert/strict';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import { createNodeNamespace, loopbackOf, NODE_IP, withRoutes } from '../../test/support/namespaces.ts';
import { service, slice } from '../../test/support/objects.ts';
import { STRICT_LISTENERS, TEST_LIVE } from '../../test/support/strict-proxy.ts';
import { defaultConfiguration } from '../config/index.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import { bindUdp, connectUdp } from '../kernel/sockets/index.ts';
import { withTimeout } from '../lib/with-timeout.ts';
import { configuredMode } from '../modes/index.ts';
import type { Ip } from '../net/index.ts';
import { createProxy } from './proxy.ts';

const TIMEOUT_MS = 1000;
const ENDPOINT = '10.244.1.10' as Ip;
const UDP = { name: '', protocol: 'UDP', port: 5353 } as const;
const STATSD = service('statsd', {
  type: 'LoadBalancer',
  clusterIP: '10.96.0.53',
  externalIPs: ['203.0.113.1'],
  ingress: [{ ip: '203.0.113.2' }],
  ports: [{ protocol: 'UDP', port: 53, nodePort: 30053 }],
});

function startProxy(namespace: NetworkNamespace, mode: 'nftables' | 'iptables') {
  const configured = configuredMode({ ...defaultConfiguration(), mode }, { countConnections: false });
  return createProxy(
    { nodeName: 'node-a', families: ['IPv4'], namespace, mode: configured, live: TEST_LIVE },
    STRICT_LISTENERS,
  );
}

/** Sends a datagram from each client, one after the other. Resolves with what became of them. */
async function sendAll(clients: readonly Socket[], server: Socket): Promise<readonly string[]> {
  const results: string[] = [];
  for (const client of clients) results.push(await send(client, server));
  return results;
}

async function send(client: Socket, server: Socket): Promise<string> {
  const arrived = once(server, 'message').then(() => 'arrived');
  const refused = once(client, 'error').then(([error]) => {
    assert.match(String(error), /ECONNREFUSED/);
    return 'refused';
  });
  client.send('count:1|c');
  const result = await withTimeout(Promise.race([arrived, refused]), TIMEOUT_MS).catch(() => 'lost');
  client.removeAllListeners('error');
  server.removeAllListeners('message');
  return result;
}

/** iptables mode does not reject what the node itself sends to external addresses, as upstream's does not. */
const AFTERWARDS = {
  nftables: ['refused', 'refused', 'refused', 'arrived'],
  iptables: ['refused', 'lost', 'lost', 'arrived'],
};

for (const mode of ['nftables', 'iptables'] as const) {
  test(`PLAN-11 in ${mode} mode, UDP flows of a Service whose last endpoint stops serving no longer reach it, except at node ports`, async () => {
    const namespace = createNodeNamespace();
    withRoutes(namespace, route => route.addAddress(loopbackOf(route), { ip: ENDPOINT, prefix: 32 }));
    const server = bindUdp(namespace, ENDPOINT, UDP.port);
    const proxy = startProxy(namespace, mode);
    const clients: Socket[] = [];
    try {
      const serving = slice('statsd-1', [{ ip: ENDPOINT, ready: true }], { ports: [UDP] });
      const ending = { ip: ENDPOINT, ready: false, serving: false, terminating: true };
      proxy.loop.serviceChanged({ type: 'added', to: STATSD });
      proxy.loop.endpointSliceChanged({ type: 'added', to: serving });
      proxy.loop.synced();
      await proxy.loop.settled();
      for (const ip of ['10.96.0.53', '203.0.113.1', '203.0.113.2'] as Ip[])
        clients.push(await connectUdp(namespace, ip, 53));
      clients.push(await connectUdp(namespace, NODE_IP, 30053));
      assert.deepEqual(await sendAll(clients, server), Array(4).fill('arrived'));

      const slices = { from: serving, to: slice('statsd-1', [ending], { ports: [UDP] }) };
      proxy.loop.endpointSliceChanged({ type: 'updated', ...slices });
      await proxy.loop.settled();
      assert.deepEqual(await sendAll(clients, server), AFTERWARDS[mode]);
    } finally {
      for (const socket of [...clients, server]) socket.close();
      await proxy.close();
      namespace.close();
    }
  });
}
