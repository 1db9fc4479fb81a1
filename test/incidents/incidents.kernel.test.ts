import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { bindUdp } from '../../src/kernel/sockets/index.ts';
import type { Ip } from '../../src/net/index.ts';
import { buildKubeProxy } from '../support/kube-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { normalised, replaceOutput, type Shown, sectionOf, shownIn } from './page.ts';
import { Shop } from './shop.ts';

const FRONT = '10.244.1.7';
const SENDER_PORT = 40_125;

const cart = {
  spec: { clusterIP: '10.96.0.20', ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  ports: [{ name: 'http', port: 8080 }],
  pods: { '10.244.1.20': 'cart-0', '10.244.2.20': 'cart-1' },
} as const;

const statsd = {
  spec: { clusterIP: '10.96.0.125', ports: [{ port: 8125, protocol: 'UDP' }] },
  ports: [{ name: '', port: 8125, protocol: 'UDP' }],
  pods: { '10.244.1.125': 'statsd-0' },
} as const;

const web = {
  spec: {
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 31000,
    clusterIP: '10.96.0.10',
    ports: [{ name: 'https', port: 443, targetPort: 8443 }],
  },
  status: { loadBalancer: { ingress: [{ ip: '203.0.113.10' }] } },
  ports: [{ name: 'https', port: 8443 }],
  pods: { '10.244.2.10': 'web-0' },
} as const;

const registry = {
  spec: { type: 'NodePort', clusterIP: '10.96.0.50', ports: [{ port: 5000, nodePort: 30500 }] },
  ports: [{ name: '', port: 5000 }],
  pods: { '10.244.1.50': 'registry-0' },
} as const;

const pay = {
  spec: { clusterIP: '10.96.0.30', ports: [{ name: 'https', port: 443, targetPort: 'https' }] },
  // The controller finds no container port of this name, so the slice has pods and no ports.
  ports: [],
  pods: { '10.244.1.30': 'pay-0' },
} as const;

const front = {
  spec: { clusterIP: '10.96.0.7', ports: [{ port: 80, targetPort: 8080 }] },
  ports: [{ name: '', port: 8080 }],
  pods: { [FRONT]: 'front-0' },
} as const;

describe('the incidents of docs/guide/find-out-why.md', () => {
  let shop: Shop;
  let frontPod: NetworkNamespace;

  before(async () => {
    buildKubeProxy();
    shop = new Shop();
    frontPod = shop.cluster.addPod(FRONT as Ip);
    for (const [name, one] of Object.entries({ front, cart, statsd, web, registry, pay })) shop.setService(name, one);
    for (const ip of Object.keys(cart.pods)) await shop.addServer(ip, 8080);
    for (const ip of ['10.244.1.125', '10.244.1.126']) await shop.addServer(ip, 8125, 'UDP');
    for (const ip of ['10.244.1.10', '10.244.2.10', '10.244.1.30']) await shop.addServer(ip, 8443);
    await shop.addServer('10.244.1.50', 5000);
    await shop.startProxy();
  });

  after(() => shop?.close());

  /** Runs what the page shows, and compares the status and the output. */
  function checkShown(shown: Shown, want: number): string {
    const { args, output, tail } = shown;
    const { status, stdout, stderr } = shop.run(...args);
    const lines = stdout.split('\n');
    const part = tail === undefined ? stdout : lines.slice(-tail - 1).join('\n');
    if (process.env.UPDATE_PAGES === '1' && normalised(part) !== normalised(output)) replaceOutput(shown, part);
    else assert.equal(normalised(part), normalised(output), `${args.join(' ')}\n${stdout}${stderr}`);
    assert.equal(status, want, args.join(' '));
    return stdout;
  }

  /** The page shows the fault, then the same question after the cure. */
  async function checkIncident(number: number, cure: (section: string, broken: string) => unknown): Promise<void> {
    const section = sectionOf(number);
    const [broken = assert.fail(), cured = assert.fail(), ...more] = shownIn(section);
    assert.deepEqual([cured.args, more], [broken.args, []]);
    const stdout = checkShown(broken, 1);
    await cure(section, stdout);
    assert.match(checkShown(cured, 0), /^✓ works: /m);
  }

  test('EXPLAIN-16 1: the policy of iptables drops what the proxy forwards', async () => {
    // As Docker writes it.
    shop.onNode('iptables -A FORWARD -i docker0 ! -o docker0 -j ACCEPT');
    shop.onNode('iptables -P FORWARD DROP');
    await checkIncident(1, async (section, stdout) => {
      const [inReadme = assert.fail()] = shownIn(readFileSync('README.md', 'utf8'));
      assert.ok(stdout.endsWith(`\n${inReadme.output}`), 'README.md shows the end of this output');
      assert.equal(await shop.call(frontPod, '10.96.0.20', 80), 'timeout');
      assert.ok(section.includes('\niptables -P FORWARD ACCEPT\n'));
      shop.onNode('iptables -P FORWARD ACCEPT');
      assert.match(await shop.call(frontPod, '10.96.0.20', 80), /^10\.244\.[12]\.20 8080 10\.244\.1\.7$/);
    });
  });

  test('EXPLAIN-15 2: a tracked flow sends datagrams to a pod that is gone', async () => {
    const sender = bindUdp(frontPod, FRONT as Ip, SENDER_PORT);
    const send = async () => {
      sender.send('?', 8125, '10.96.0.125');
      const timeout = AbortSignal.timeout(10_000);
      const [answer] = await once(sender, 'message', { signal: timeout }).catch(() => ['timeout']);
      return String(answer);
    };
    const flows = () => shop.onNode('conntrack -L -p udp --orig-dst 10.96.0.125');
    try {
      assert.equal(await send(), '10.244.1.125 8125 10.244.1.7');
      shop.setService('statsd', { ...statsd, pods: { '10.244.1.126': 'statsd-1' } });
      await waitFor('the proxy removes the flow itself', () => flows() === '', { pollMs: 50 });
      await shop.until('shop/statsd', 'works', '10.244.1.126:8125');
      // A program such as conntrackd brings the flow back.
      const original = `-s ${FRONT} -d 10.96.0.125 --sport ${SENDER_PORT} --dport 8125`;
      shop.onNode(`conntrack -I -p udp ${original} --dst-nat 10.244.1.125:8125 -t 30`);
      await checkIncident(2, async (_, stdout) => {
        assert.equal(await send(), '10.244.1.125 8125 10.244.1.7');
        const [command = assert.fail()] = /conntrack -D .*/.exec(stdout) ?? [];
        shop.onNode(command);
        assert.equal(await send(), '10.244.1.126 8125 10.244.1.7');
      });
    } finally {
      sender.close();
    }
  });

  test('EXPLAIN-12 3: policy Local, and no endpoint on this node', async () => {
    const outside = shop.cluster.host('ext');
    await checkIncident(3, async () => {
      assert.equal(await shop.call(outside, '203.0.113.10', 443), 'timeout');
      shop.setService('web', { ...web, pods: { '10.244.1.10': 'web-1', ...web.pods } });
      await shop.until('203.0.113.10:443', 'works', '10.244.1.10:8443');
      assert.equal(await shop.call(outside, '203.0.113.10', 443), '10.244.1.10 8443 192.168.0.100');
    });
  });

  test('EXPLAIN-12 5: the name in targetPort is the name of no container port', async () => {
    await checkIncident(5, async section => {
      assert.equal(await shop.call(frontPod, '10.96.0.30', 443), 'refused');
      // An EndpointSlice that somebody wrote by hand, for a Service without a selector.
      const byHand = { ...pay.spec, selector: undefined };
      shop.setService('pay', { ...pay, spec: byHand, ports: [{ name: 'web', port: 8443 }] });
      const [, other = assert.fail()] = /^> (EndpointSlice .*)$/m.exec(section) ?? [];
      await shop.until('shop/pay', 'broken', other);
      const ports = [{ name: 'https', port: 443, targetPort: 8443 }] as const;
      shop.setService('pay', { ...pay, spec: { ...pay.spec, ports }, ports: [{ name: 'https', port: 8443 }] });
      await shop.until('shop/pay', 'works', '10.244.1.30:8443');
      assert.equal(await shop.call(frontPod, '10.96.0.30', 443), '10.244.1.30 8443 10.244.1.7');
    });
  });

  // After the others, because it starts the proxy again.
  test('EXPLAIN-13 4: a node port at 127.0.0.1 in nftables mode', async () => {
    await checkIncident(4, async () => {
      assert.equal(await shop.call(shop.cluster.node, '127.0.0.1', 30500), 'refused');
      const featureGates = { KubeProxyNFTablesLocalhostNodePorts: true };
      shop.setConfiguration({ featureGates, nodePortAddresses: ['localhost', 'primary'] });
      await shop.awaitRestart();
      assert.match(await shop.call(shop.cluster.node, '127.0.0.1', 30500), /^10\.244\.1\.50 5000 /);
    });
  });

  test('EXPLAIN-16 1 in iptables mode: only packets that the proxy marks pass the policy', async () => {
    shop.setConfiguration({ mode: 'iptables' });
    await shop.awaitRestart();
    shop.onNode('iptables -P FORWARD DROP');
    const pod = shop.run('explain', '--from', 'shop/front-0', 'shop/cart');
    assert.equal(pod.status, 1, pod.stdout);
    assert.match(pod.stdout, /^✗ broken: The policy of iptables-nft table filter, chain FORWARD drops the packet\.$/m);
    assert.equal(await shop.call(frontPod, '10.96.0.20', 80), 'timeout');
    // The node replaces the source of callers outside, and the proxy accepts the packets that it marks for that.
    const outside = shop.run('explain', '--from', 'outside', 'shop/registry');
    assert.equal(outside.status, 0, outside.stdout);
    assert.match(outside.stdout, /✓ other rules /);
    assert.match(await shop.call(shop.cluster.host('ext'), '192.168.0.2', 30500), /^10\.244\.1\.50 5000 /);
  });
});
