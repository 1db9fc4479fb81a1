import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { ModeHarness } from '../../../test/support/mode-harness.ts';
import { loopbackOf, withRoutes } from '../../../test/support/namespaces.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { TestNetwork, TestSocket } from '../../../test/support/test-socket.ts';
import { defaultConfiguration } from '../../config/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import type { Ip } from '../../net/index.ts';
import type { Mode } from '../mode.ts';
import { configuredMode, createMode } from '../registry.ts';
import { FlowTraffic } from './flow-traffic.ts';
import type { ServicePortTraffic, TrafficFigures } from './service-port-traffic.ts';
import { TrafficReader } from './traffic-reader.ts';

const WEB = '10.96.0.10' as Ip;
const IDLE = '10.96.0.11' as Ip;
const GUARDED = '10.97.0.12' as Ip;
const ENDPOINTS = ['10.244.1.1' as Ip, '10.244.1.2' as Ip];

interface Lab {
  readonly harness: ModeHarness<Mode>;
  readonly namespace: NetworkNamespace;
  /** A socket that does not block returns at once. The kernel has sent its first packet then. */
  connect(ip: Ip, isBlocking?: boolean): TestSocket;
  traffic(): Promise<ReadonlyMap<string, ServicePortTraffic>>;
}

function countBytes(namespace: NetworkNamespace, isOn: boolean): void {
  namespace.run(() => writeFileSync('/proc/sys/net/netfilter/nf_conntrack_acct', isOn ? '1' : '0'));
}

/** A node whose endpoints are addresses of the node itself. Listeners accept at them. */
async function withLab(mode: string, work: (lab: Lab) => Promise<void>, countConnections = true): Promise<void> {
  const network = new TestNetwork(ENDPOINTS);
  const { namespace } = network;
  const configured = configuredMode({ ...defaultConfiguration(), mode }, { countConnections });
  const harness = new ModeHarness<Mode>(events => createMode(configured, ['IPv4'], { namespace, events }), {
    families: ['IPv4'],
    settings: { localDetector: undefined },
  });
  const open: TestSocket[] = [];
  try {
    withRoutes(namespace, route =>
      route.addRoute({ destination: { address: '10.96.0.0' as Ip, prefix: 12 }, dev: loopbackOf(route) }),
    );
    harness.set(service('web', { clusterIP: WEB }), slice('web-1', ENDPOINTS), service('idle', { clusterIP: IDLE }));
    harness.set(
      service('guarded', {
        clusterIP: '10.96.0.12',
        type: 'LoadBalancer',
        ingress: [{ ip: GUARDED }],
        loadBalancerSourceRanges: ['198.51.100.0/24'],
      }),
      slice('guarded-1', ENDPOINTS),
    );
    await harness.sync();
    await work({
      harness,
      namespace,
      connect(ip, isBlocking = true) {
        const socket = new TestSocket(namespace, 'IPv4', { isBlocking });
        socket.connect(ip, 80);
        open.push(socket);
        return socket;
      },
      traffic: async () => {
        const traffic = (await harness.mode.traffic?.()) ?? assert.fail('the mode does not count');
        return new Map(traffic.map(port => [port.service, port]));
      },
    });
  } finally {
    for (const socket of open) socket.close();
    await harness.close();
    network.close();
  }
}

function sumOf(traffic: ServicePortTraffic | undefined, figure: keyof TrafficFigures): number {
  return [...(traffic?.endpoints?.values() ?? [])].reduce((sum, endpoint) => sum + (endpoint[figure] ?? 0), 0);
}

for (const mode of ['nftables', 'iptables']) {
  describe(`traffic in ${mode} mode`, () => {
    test('TRAFFIC-1 TRAFFIC-3 new and open connections, bytes, and what was refused, also by endpoint', () =>
      withLab(mode, async ({ namespace, connect, traffic }) => {
        countBytes(namespace, true);
        connect(WEB);
        connect(WEB);
        connect(WEB).close();
        connect(IDLE, false);
        connect(GUARDED, false);
        const counted = await traffic();
        const web = counted.get('default/web');
        assert.equal(web?.connections, 3);
        assert.equal(web?.active, 2);
        assert.ok((web?.packets ?? 0) >= 9, 'three packets for each handshake');
        assert.ok((web?.bytes ?? 0) > 9 * 40, 'a packet of TCP has 40 bytes at least');
        for (const figure of ['connections', 'active', 'packets', 'bytes'] as const)
          assert.equal(sumOf(web, figure), web?.[figure], figure);
        assert.ok((counted.get('default/idle')?.rejected ?? 0) >= 1, 'a socket repeats its attempt');
        assert.equal(counted.get('default/idle')?.dropped, 0);
        assert.ok((counted.get('default/guarded')?.dropped ?? 0) >= 1);
        assert.equal(counted.get('default/guarded')?.rejected, 0);
        assert.deepEqual([web?.rejected, web?.dropped], [0, 0]);
      }));

    test('TRAFFIC-3 bytes and packets are unknown while the kernel does not count them', () =>
      withLab(mode, async ({ namespace, connect, traffic }) => {
        countBytes(namespace, false);
        connect(WEB);
        const web = (await traffic()).get('default/web');
        assert.deepEqual([web?.active, web?.packets, web?.bytes], [1, undefined, undefined]);
      }));

    test('TRAFFIC-4 without --count-connections the mode counts nothing', () =>
      withLab(mode, async ({ harness }) => assert.equal(await harness.mode.traffic?.(), undefined), false));
  });
}

test('TRAFFIC-5 packets that a short outage refused still count after endpoints came back', () =>
  withLab('nftables', async ({ harness, connect, traffic }) => {
    harness.set(slice('web-1', []));
    await harness.sync();
    connect(WEB, false);
    harness.set(slice('web-1', ENDPOINTS));
    await harness.sync();
    assert.ok(((await traffic()).get('default/web')?.rejected ?? 0) >= 1);
  }));

test('TRAFFIC-6 a rule that is written again begins at 0, and the sum of the readings does not', () =>
  withLab('iptables', async ({ harness, connect }) => {
    const clock = new ManualClock(1_000_000);
    const reader = new TrafficReader(harness.mode, clock);
    const web = async () => {
      await clock.advance(60_000);
      return (await reader.read())?.find(({ service }) => service === 'default/web')?.connections;
    };
    connect(WEB);
    connect(WEB);
    assert.equal(await web(), 2);
    harness.set(slice('web-1', ENDPOINTS.slice(0, 1)));
    await harness.sync();
    connect(WEB);
    assert.equal(await web(), 3);
  }));

test('TRAFFIC-2 TRAFFIC-11 a flow counts once, however often flows are read, and readers share a reading', () =>
  withLab('nftables', async ({ harness, namespace, connect }) => {
    const clock = new ManualClock(1_000_000);
    const plans = harness.plans('IPv4').map(plan => ['IPv4', plan] as const);
    const flows = new FlowTraffic({ namespace, clock, plans: () => plans });
    const web = async () => (await flows.read()).find(({ service }) => service === 'default/web');
    const counted = async () => {
      const traffic = await web();
      return [traffic?.active, sumOf(traffic, 'connections')];
    };
    connect(WEB);
    assert.deepEqual(await counted(), [1, 1]);
    const second = connect(WEB);
    assert.deepEqual(await counted(), [1, 1], 'the reading is not two seconds old');
    await clock.advance(2000);
    assert.deepEqual(await counted(), [2, 2]);
    second.close();
    await clock.advance(2000);
    assert.deepEqual(await counted(), [1, 2]);
  }));
