import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { canonicalRuleset, generation, NftablesHarness, nft } from '../../../../test/support/nftables-mode.ts';
import { service, slice } from '../../../../test/support/objects.ts';
import { waitFor } from '../../../../test/support/wait-for.ts';
import { NetworkNamespace } from '../../../kernel/netns.ts';
import { RouteSocket } from '../../../kernel/rtnetlink/index.ts';
import { connectTcp, connectUdp } from '../../../kernel/sockets/index.ts';
import { type Family, type Ip, parseIp } from '../../../net/index.ts';

const NODE_IP = { IPv4: ip('192.168.0.2'), IPv6: ip('fd00::2') };
const CLUSTER_IPS = { IPv4: ip('10.96.0.0'), IPv6: ip('fd00:10:96::') };

function ip(text: string): Ip {
  return parseIp(text) ?? assert.fail(text);
}

/** A node without a network. The endpoints are addresses of the node itself, and no process listens there. */
async function withNode(
  work: (mode: NftablesHarness, namespace: NetworkNamespace) => Promise<void>,
  { family = 'IPv4', counts = true }: { family?: Family; counts?: boolean } = {},
): Promise<void> {
  const namespace = NetworkNamespace.create();
  const mode = new NftablesHarness(namespace, family, { localDetector: undefined }, counts);
  try {
    const route = RouteSocket.open({ namespace });
    const lo = route.link('lo') ?? assert.fail('the link lo does not exist');
    route.setLink(lo, { up: true });
    const prefix = family === 'IPv4' ? 32 : 128;
    for (const address of [NODE_IP[family], ...ENDPOINTS[family].map(ip)])
      route.addAddress(lo, { ip: address, prefix });
    route.addRoute({ destination: { address: CLUSTER_IPS[family], prefix: family === 'IPv4' ? 12 : 108 }, dev: lo });
    route.close();
    // The kernel may lose the first packets after a link is up. A packet that is sent again would count twice.
    for (const endpoint of ENDPOINTS[family]) await knock(namespace, endpoint, 8080, 1);
    await work(mode, namespace);
  } finally {
    await mode.close();
    namespace.close();
  }
}

const ENDPOINTS = { IPv4: ['10.244.1.1', '10.244.1.2'], IPv6: ['fd00:244::1', 'fd00:244::2'] };

async function knock(namespace: NetworkNamespace, address: string, port: number, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const socket = await connectTcp(namespace, ip(address), port).catch(() => undefined);
    if (!socket) continue;
    socket.destroy();
    await once(socket, 'close');
  }
}

async function send(namespace: NetworkNamespace, address: string, port: number): Promise<void> {
  const socket = await connectUdp(namespace, ip(address), port);
  // If the kernel rejects the packet, the socket may report an error.
  await new Promise(sent => socket.on('error', sent).send('?', sent));
  socket.close();
}

async function counted(mode: NftablesHarness): Promise<Record<string, number>> {
  const sums: Record<string, number> = {};
  for await (const { service: name, connections } of mode.connections()) {
    sums[name] = (sums[name] ?? 0) + connections;
  }
  return sums;
}

function web(mode: NftablesHarness, endpoints = 2): void {
  mode.setService(service('web', { clusterIP: '10.96.0.1', type: 'NodePort', ports: [{ port: 80, nodePort: 30080 }] }));
  mode.setEndpointSlice(slice('web-1', ENDPOINTS.IPv4.slice(0, endpoints)));
}

describe('counting connections', () => {
  test('NFT-18 the kernel counts each connection once for its service port, at every kind of frontend', () =>
    withNode(async (mode, namespace) => {
      web(mode);
      mode.setService(service('sticky', { clusterIP: '10.96.0.2', sessionAffinity: 'ClientIP' }));
      mode.setEndpointSlice(slice('sticky-1', ENDPOINTS.IPv4));
      mode.setService(service('idle', { clusterIP: '10.96.0.3', ports: [{ protocol: 'UDP', port: 53 }] }));
      mode.setService(service('quiet', { clusterIP: '10.96.0.4' }));
      mode.setService(
        service('guarded', {
          clusterIP: '10.96.0.5',
          type: 'LoadBalancer',
          ingress: [{ ip: '10.97.0.5' }],
          loadBalancerSourceRanges: ['198.51.100.0/24'],
          ports: [{ protocol: 'UDP', port: 53 }],
        }),
      );
      const udp = [{ name: '', protocol: 'UDP', port: 53 }] as const;
      mode.setEndpointSlice(slice('guarded-1', ENDPOINTS.IPv4, { ports: udp }));
      await mode.sync();
      await knock(namespace, '10.96.0.1', 80, 3);
      await knock(namespace, NODE_IP.IPv4, 30080, 2);
      await knock(namespace, '10.96.0.2', 80, 4);
      await send(namespace, '10.96.0.3', 53);
      await send(namespace, '10.96.0.5', 53);
      await send(namespace, '10.97.0.5', 53);
      assert.deepEqual(await counted(mode), {
        'default/web': 5,
        'default/sticky': 4,
        'default/idle': 1,
        'default/quiet': 0,
        'default/guarded': 1,
      });
      assert.equal((await mode.mode.connectionCounts())?.get('default/web'), 5);
      assert.match(
        nft(namespace, 'list', 'set', 'ip', 'kube-proxy', 'service-connections'),
        /10\.96\.0\.1 \. tcp \. 80 counter packets 3 bytes \d+ comment "default\/web"/,
      );
    }));

  test('NFT-18 the kernel counts IPv6 connections', () =>
    withNode(
      async (mode, namespace) => {
        mode.setService(service('six', { clusterIP: 'fd00:10:96::1', ipFamilies: ['IPv6'] }));
        mode.setEndpointSlice(slice('six-1', ENDPOINTS.IPv6, { addressType: 'IPv6' }));
        await mode.sync();
        await knock(namespace, 'fd00:10:96::1', 80, 2);
        assert.deepEqual(await counted(mode), { 'default/six': 2 });
      },
      { family: 'IPv6' },
    ));

  test('NFT-18 the counts survive changes of endpoints, restarts and repairs', () =>
    withNode(async (mode, namespace) => {
      web(mode);
      mode.setService(service('other', { clusterIP: '10.96.0.2' }));
      await mode.sync();
      await knock(namespace, '10.96.0.1', 80, 2);
      web(mode, 1);
      await mode.sync();
      web(mode, 0);
      await mode.sync();
      web(mode);
      await mode.sync();
      await knock(namespace, '10.96.0.1', 80, 1);
      await mode.settle();
      const before = generation(namespace);
      await mode.restart();
      assert.equal(generation(namespace), before, 'a restart writes nothing');
      nft(namespace, 'delete', 'element', 'ip', 'kube-proxy', 'service-connections', '{ 10.96.0.2 . tcp . 80 }');
      await waitFor('a repair', () => mode.events.lines.some(line => line.startsWith('repaired')));
      assert.deepEqual(await counted(mode), { 'default/web': 3, 'default/other': 0 });
      assert.equal(mode.events.lines.length, 1, String(mode.events.lines));
    }));

  test('NFT-19 by default the kernel counts no connections', () =>
    withNode(
      async (mode, namespace) => {
        web(mode);
        await mode.sync();
        assert.doesNotMatch(nft(namespace, 'list', 'ruleset'), /counter|(?:service|nodeport)-connections/);
        assert.deepEqual(await counted(mode), {});
      },
      { counts: false },
    ));

  test('NFT-19 switching counting on and off replaces no map or chain, and leaves nothing behind', () =>
    withNode(
      async (mode, namespace) => {
        const mapsAndChains = () =>
          nft(namespace, '-a', 'list', 'table', 'ip', 'kube-proxy')
            // Only counting has chains that count what is refused.
            .match(/^\t(?:map|chain) (?!count-).*$/gm)
            ?.join('\n');
        web(mode);
        await mode.sync();
        const plain = canonicalRuleset(namespace);
        const handles = mapsAndChains();
        await mode.restartCounting(true);
        await knock(namespace, '10.96.0.1', 80, 2);
        assert.deepEqual(await counted(mode), { 'default/web': 2 });
        assert.equal(mapsAndChains(), handles, 'no map or chain was created again');
        await mode.restartCounting(false);
        await mode.settle();
        assert.equal(canonicalRuleset(namespace), plain);
        assert.equal(mapsAndChains(), handles);
      },
      { counts: false },
    ));

  test('NFT-19 the mode replaces a set with the right name but without counters', () =>
    withNode(async (mode, namespace) => {
      nft(namespace, 'add', 'table', 'ip', 'kube-proxy');
      nft(namespace, 'add set ip kube-proxy service-connections { type ipv4_addr . inet_proto . inet_service; }');
      web(mode);
      await mode.sync();
      await knock(namespace, '10.96.0.1', 80, 1);
      assert.deepEqual(await counted(mode), { 'default/web': 1 });
    }));
});
