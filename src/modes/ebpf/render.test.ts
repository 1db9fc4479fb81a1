import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { liveShares } from '../../../test/support/live-shares.ts';
import { modeSettingsFor } from '../../../test/support/mode-harness.ts';
import { service, slice } from '../../../test/support/objects.ts';
import { Model, parseNodePortAddresses } from '../../model/index.ts';
import type { Ip } from '../../net/index.ts';
import { type LiveEndpoints, Planner, type PlanOptions } from '../../plan/index.ts';
import { diffPorts } from './diff.ts';
import { comparesAll, nodeAddresses, poolMembers, type RenderOptions, render, type SocketPort } from './render.ts';

const OPTIONS: RenderOptions = { masqueradeAll: false, canRefuse: true, nodeIPs: new Set() };
const LOCAL = { ip: '10.244.1.2', nodeName: 'node-a' };
const REMOTE = { ip: '10.244.2.2', nodeName: 'node-b' };
const DETECTOR = { kind: 'interface-prefix', prefix: 'veth' } as const;

type ServiceOverrides = Parameters<typeof service>[1];

function rendered(
  overrides: ServiceOverrides,
  endpoints: readonly (typeof LOCAL)[],
  options: Partial<RenderOptions> = {},
  plan: Partial<PlanOptions> = {},
  live?: LiveEndpoints,
): SocketPort | undefined {
  const model = new Model({ family: 'IPv4', nodeName: 'node-a', startedAt: 0, report: () => {} });
  const planOptions: PlanOptions = {
    node: { name: 'node-a', zone: 'zone-a' },
    nodeIP: '192.168.0.2' as Ip,
    localDetector: DETECTOR,
    masqueradeAll: false,
    allowExternalIPs: true,
    ...plan,
  };
  const planner = new Planner(model, planOptions, undefined, live);
  model.setService(service('web', { clusterIP: '10.96.0.10', ...overrides }));
  model.setEndpointSlice(slice('web-1', endpoints));
  const [only] = planner.update(model.take()).added;
  return only && render(only, { ...OPTIONS, ...options });
}

/** `10.96.0.10:80 cluster`, for each target. */
function targets(...input: Parameters<typeof rendered>): readonly string[] {
  const port = rendered(...input);
  return (port?.targets ?? []).map(
    ({ ip = 'node', port: number, to, isNodeOnly }) => `${ip}:${number} ${to}${isNodeOnly ? ' node-only' : ''}`,
  );
}

const EXTERNAL = {
  type: 'LoadBalancer',
  externalIPs: ['1.1.1.1'],
  ingress: [{ ip: '2.2.2.2' }],
  ports: [{ nodePort: 30080 }],
} as const;
const externalPolicy = (externalTrafficPolicy: string) => ({ ...EXTERNAL, externalTrafficPolicy });

describe('EBPF-30 what sockets decide', () => {
  test('EBPF-30 policy Cluster leads every frontend to the cluster endpoints', () => {
    assert.deepEqual(targets(externalPolicy('Cluster'), [LOCAL, REMOTE]), [
      '10.96.0.10:80 cluster',
      '1.1.1.1:80 cluster',
      '2.2.2.2:80 cluster',
      'node:30080 cluster',
    ]);
    const pools = rendered(externalPolicy('Cluster'), [LOCAL, REMOTE])?.pools ?? [];
    assert.deepEqual(
      pools.map(({ name, endpoints }) => [name, endpoints.map(({ ip }) => ip)]),
      [['cluster', ['10.244.1.2', '10.244.2.2']]],
    );
  });

  test('EBPF-30 the internal policy Local leads to local endpoints, and without one it is left alone', () => {
    const local = { internalTrafficPolicy: 'Local' };
    assert.deepEqual(targets(local, [LOCAL, REMOTE]), ['10.96.0.10:80 local']);
    assert.deepEqual(targets(local, [REMOTE]), []);
  });

  test('EBPF-30 the external policy Local leads processes of this machine to the cluster endpoints', () => {
    const cluster = '10.96.0.10:80 cluster';
    assert.deepEqual(targets(externalPolicy('Local'), [REMOTE]), [
      cluster,
      '1.1.1.1:80 cluster',
      '2.2.2.2:80 cluster',
      'node:30080 cluster',
    ]);
    assert.deepEqual(targets(externalPolicy('Local'), [LOCAL, REMOTE], {}, { localDetector: undefined }), [
      cluster,
      '1.1.1.1:80 cluster node-only',
      '2.2.2.2:80 cluster node-only',
      'node:30080 cluster node-only',
    ]);
  });

  test('EBPF-30 without endpoints sockets refuse, if the kernel can', () => {
    assert.deepEqual(targets({}, []), ['10.96.0.10:80 refuse']);
    assert.deepEqual(targets({}, [], { masqueradeAll: true }), ['10.96.0.10:80 refuse']);
    assert.equal(rendered({}, [], { canRefuse: false }), undefined);
  });

  test('EBPF-30 with masqueradeAll only processes of the node are translated', () => {
    assert.deepEqual(targets({}, [LOCAL], { masqueradeAll: true }), ['10.96.0.10:80 cluster node-only']);
  });

  test('EBPF-30 UDP, source ranges, and cluster IPs that the node has are left alone', () => {
    assert.equal(rendered({ ports: [{ protocol: 'UDP' }] }, []), undefined);
    assert.deepEqual(targets({ ...externalPolicy('Cluster'), loadBalancerSourceRanges: ['10.0.0.0/8'] }, [LOCAL]), [
      '10.96.0.10:80 cluster',
      '1.1.1.1:80 cluster',
      'node:30080 cluster',
    ]);
    const nodeIPs = new Set(['10.96.0.10', '1.1.1.1'] as Ip[]);
    assert.deepEqual(targets(externalPolicy('Cluster'), [LOCAL], { nodeIPs }), [
      '10.96.0.10:80 leave',
      '1.1.1.1:80 cluster',
      '2.2.2.2:80 cluster',
      'node:30080 cluster',
    ]);
  });

  test('EBPF-41 a frontend that is left alone has a target if the node has its address', () => {
    const nodeIPs = new Set(['1.1.1.1', '2.2.2.2'] as Ip[]);
    const ranges = { ...externalPolicy('Cluster'), loadBalancerSourceRanges: ['10.0.0.0/8'] };
    assert.deepEqual(targets(ranges, [LOCAL], { nodeIPs }), [
      '10.96.0.10:80 cluster',
      '1.1.1.1:80 cluster',
      '2.2.2.2:80 leave',
      'node:30080 cluster',
    ]);
    assert.deepEqual(targets(externalPolicy('Cluster'), [], { nodeIPs, canRefuse: false }), [
      '1.1.1.1:80 leave',
      '2.2.2.2:80 leave',
    ]);
    const udp = { ...externalPolicy('Cluster'), ports: [{ protocol: 'UDP' as const, nodePort: 30080 }] };
    assert.equal(rendered(udp, [LOCAL], { nodeIPs }), undefined);
  });

  test('EBPF-30 affinity and least connections hold for the service port', () => {
    const port = rendered(
      { sessionAffinity: 'ClientIP', annotations: { 'pointsman.dev/balance': 'least-connections' } },
      [LOCAL],
    );
    assert.deepEqual([port?.affinitySeconds, port?.isLeastConnections], [10_800, true]);
    const plain = rendered({}, [LOCAL]);
    assert.deepEqual([plain?.affinitySeconds, plain?.isLeastConnections], [0, false]);
  });
});

describe('balance', () => {
  const balance = (algorithm: string, more: Record<string, string> = {}) => ({
    annotations: { 'pointsman.dev/balance': algorithm, ...more },
  });

  test('BALANCE-57 weights are slots, and an endpoint of weight 0 has none', () => {
    const weights = { 'pointsman.dev/weights': '10.244.1.2=3,10.244.2.3=0' };
    const third = { ip: '10.244.2.3', nodeName: 'node-b' };
    const [pool] = rendered(balance('weighted', weights), [LOCAL, REMOTE, third])?.pools ?? [];
    assert.deepEqual(pool?.endpoints.map(({ ip }) => ip).sort(), [
      '10.244.1.2',
      '10.244.1.2',
      '10.244.1.2',
      '10.244.2.2',
    ]);
    assert.deepEqual(pool && poolMembers(pool).map(({ ip }) => ip), ['10.244.1.2', '10.244.2.2']);
    const [plain] = rendered(balance('random'), [LOCAL, REMOTE])?.pools ?? [];
    assert.equal(plain && poolMembers(plain), plain?.endpoints);
  });

  test('BALANCE-57 an endpoint in slow start has fewer slots, also without an algorithm', () => {
    const live = liveShares({ [REMOTE.ip]: 0.1 });
    for (const spec of [{}, balance('random'), balance('least-connections')]) {
      const [pool] = rendered(spec, [LOCAL, REMOTE], {}, {}, live)?.pools ?? [];
      const slots = (wanted: string) => pool?.endpoints.filter(({ ip }) => ip === wanted).length;
      assert.deepEqual([slots(LOCAL.ip), slots(REMOTE.ip)], [10, 1]);
    }
  });

  test('BALANCE-57 least connections has one slot for each of at most 16 endpoints, whatever packets need', () => {
    const least = (count: number, reason: 'slow start' | 'open connections') => {
      const endpoints = Array.from({ length: count }, (_, i) => ({ ip: `10.244.2.${i + 1}`, nodeName: 'node-b' }));
      const live = liveShares({ '10.244.2.1': 0.5 }, reason);
      const port = rendered(balance('least-connections'), endpoints, {}, {}, live);
      const [pool] = port?.pools ?? [];
      assert.ok(port && pool);
      return { slots: pool.endpoints.length, all: comparesAll(port, pool) };
    };
    assert.deepEqual(least(2, 'open connections'), { slots: 2, all: true });
    assert.deepEqual(least(16, 'open connections'), { slots: 16, all: true });
    assert.deepEqual(least(17, 'open connections'), { slots: 33, all: false });
    assert.deepEqual(least(2, 'slow start'), { slots: 3, all: false });
    const random = rendered(balance('random'), [LOCAL, REMOTE]);
    assert.equal(random?.pools[0] && comparesAll(random, random.pools[0]), false);
  });

  test('BALANCE-58 round-robin and consistent-hash are left to the network, and refusing is not', () => {
    for (const algorithm of ['round-robin', 'consistent-hash']) {
      assert.equal(rendered(balance(algorithm), [LOCAL, REMOTE]), undefined);
      assert.deepEqual(targets(balance(algorithm), []), ['10.96.0.10:80 refuse']);
      const nodeIPs = new Set(['1.1.1.1'] as Ip[]);
      const spec = { ...externalPolicy('Cluster'), ...balance(algorithm) };
      assert.deepEqual(targets(spec, [LOCAL, REMOTE], { nodeIPs }), ['1.1.1.1:80 leave']);
    }
  });
});

describe('EBPF-31 addresses with node ports', () => {
  const NODE = new Set(['127.0.0.1', '192.168.0.2', '10.0.0.2', '::1', 'fd00::2', 'fe80::1'] as Ip[]);
  const addresses = (family: 'IPv4' | 'IPv6', ranges: readonly string[], nodePortIPs: readonly string[] = []) => {
    const settings = modeSettingsFor(family, {
      nodePortAddresses: parseNodePortAddresses(family, ranges),
      nodePortIPs: nodePortIPs as readonly Ip[],
    });
    return Object.fromEntries(nodeAddresses(family, settings, NODE));
  };

  test('EBPF-31 all addresses of the node, without loopback and link-local ones', () => {
    assert.deepEqual(addresses('IPv4', []), { '192.168.0.2': 'any', '10.0.0.2': 'any' });
    assert.deepEqual(addresses('IPv6', []), { 'fd00::2': 'any' });
  });

  test('EBPF-31 the addresses that nodePortAddresses selects', () => {
    assert.deepEqual(addresses('IPv4', ['192.168.0.0/16'], ['192.168.0.2']), { '192.168.0.2': 'any' });
  });

  test('EBPF-31 a loopback address only if nodePortAddresses names a loopback range', () => {
    assert.deepEqual(addresses('IPv4', ['127.0.0.0/8'], ['127.0.0.1']), { '127.0.0.1': 'loopback' });
    assert.deepEqual(addresses('IPv6', ['::1/128'], ['::1']), { '::1': 'loopback' });
    assert.deepEqual(addresses('IPv4', ['0.0.0.0/1'], ['127.0.0.1', '10.0.0.2']), { '10.0.0.2': 'any' });
    assert.deepEqual(addresses('IPv4', ['0.0.0.0/0', '127.0.0.0/8'])['127.0.0.1'], 'loopback');
  });
});

test('EBPF-32 only pools whose endpoints changed get a new run, and only targets that are gone are removed', () => {
  const from = rendered(externalPolicy('Cluster'), [LOCAL]);
  const more = rendered(externalPolicy('Cluster'), [LOCAL, REMOTE]);
  const fewer = rendered({}, [LOCAL]);
  const summary = (...ports: Parameters<typeof diffPorts>) => {
    const { changedPools, keptPools, removedTargets } = diffPorts(...ports);
    return [changedPools.map(({ name }) => name), keptPools, removedTargets.map(({ port }) => port)];
  };
  assert.deepEqual(summary(undefined, from), [['cluster'], [], []]);
  assert.deepEqual(summary(from, from), [[], ['cluster'], []]);
  assert.deepEqual(summary(from, more), [['cluster'], [], []]);
  assert.deepEqual(summary(from, fewer), [[], ['cluster'], [80, 80, 30080]]);
  assert.deepEqual(summary(from, undefined), [[], [], [80, 80, 80, 30080]]);
  assert.deepEqual(summary(undefined, undefined), [[], [], []]);
});
