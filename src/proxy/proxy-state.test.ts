import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { node, service, slice } from '../../test/support/objects.ts';
import type { ServiceCIDR } from '../api/index.ts';
import { defaultConfiguration } from '../config/index.ts';
import type { Problem } from '../lib/problem.ts';
import { configuredMode } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import { DEFAULT_PLAN_SETTINGS, planName } from '../plan/index.ts';
import { ProxyState } from './proxy-state.ts';
import { unavailableDefault } from './unavailable-balance.ts';

const ZONE = 'topology.kubernetes.io/zone';

function create(families?: readonly Family[]) {
  return new ProxyState({
    nodeName: 'node-a',
    families,
    settings: { ...DEFAULT_PLAN_SETTINGS, mode: 'NodeCIDR' },
    startedAt: 0,
    report: () => {},
  });
}

const added = <T>(to: T) => ({ type: 'added', to }) as const;
const updated = (state: ProxyState) => state.take().IPv4.plans.updated.map(({ to }) => planName(to));

const hinted = slice('a-1', [
  { ip: '10.0.0.1', zoneHints: ['zone-a'] },
  { ip: '10.0.0.2', zoneHints: ['zone-b'] },
]);

describe('the state of the proxy', () => {
  test('BALANCE-3 each version of a Service that asks for what the mode lacks is a problem, once for both families', () => {
    const problems: Problem[] = [];
    const mode = configuredMode({ ...defaultConfiguration(), mode: 'iptables' }, { countConnections: false });
    const { algorithms } = mode.descriptor;
    const settings = { ...DEFAULT_PLAN_SETTINGS, algorithms };
    const report = (problem: Problem) => void problems.push(problem);
    const begun: string[] = [];
    const unavailable = (key: string) => void begun.push(key);
    const state = new ProxyState({ nodeName: 'node-a', settings, startedAt: 0, report, mode, unavailable });
    const clusterIPs = ['10.96.0.1', 'fd00:10:96::1'];
    const web = (balance: string, spec = {}) =>
      added(
        service('web', {
          clusterIPs,
          ipFamilies: ['IPv4', 'IPv6'],
          annotations: { 'pointsman.dev/balance': balance },
          ...spec,
        }),
      );
    state.serviceChanged(web('least-connections'));
    assert.deepEqual(problems, [
      {
        kind: 'Service',
        reason: 'unavailable',
        object: 'Service default/web',
        field: 'metadata.annotations[pointsman.dev/balance]',
        message:
          'least-connections is not available in iptables mode, which chooses at random instead; this mode has random, round-robin, weighted',
      },
    ]);
    state.endpointSliceChanged(added(hinted));
    assert.equal(problems.length, 1);
    const { to } = web('least-connections');
    state.serviceChanged({ type: 'updated', from: to, to });
    assert.equal(problems.length, 2);
    assert.deepEqual(begun, ['default/web'], 'a resync begins nothing');
    state.serviceChanged({ type: 'updated', from: to, to: web('weighted').to });
    state.serviceChanged(web('least-connections', { clusterIP: 'None', clusterIPs: ['None'] }));
    assert.equal(problems.length, 2);
    state.serviceChanged({ type: 'updated', from: web('weighted').to, to });
    assert.deepEqual(begun, ['default/web', 'default/web']);
  });

  test('BALANCE-4 a default that the mode lacks is said in one sentence', () => {
    const inMode = (mode: string) =>
      unavailableDefault('random', configuredMode({ ...defaultConfiguration(), mode }, { countConnections: false }));
    assert.equal(inMode('nftables'), undefined);
    assert.equal(
      inMode('ipvs'),
      '--default-balance random has no effect in ipvs mode, which chooses as the scheduler rr decides instead; this mode has round-robin, least-connections, consistent-hash, weighted',
    );
  });

  test('SYNC-3 a new zone of the Node updates plans, a new region does not', () => {
    const state = create();
    state.serviceChanged(added(service('a')));
    state.endpointSliceChanged(added(hinted));
    state.take();
    const relabel = (labels: Record<string, string>) => {
      state.nodeChanged(added(node('node-a', { labels })));
      return updated(state);
    };
    assert.deepEqual(relabel({ 'topology.kubernetes.io/region': 'r' }), []);
    assert.deepEqual(relabel({ [ZONE]: 'zone-a' }), ['default/a']);
    assert.deepEqual(relabel({ [ZONE]: 'zone-a', other: 'label' }), []);
    assert.deepEqual(relabel({ [ZONE]: 'zone-b' }), ['default/a']);
  });

  test('SYNC-3 the pod ranges of the Node are the local detectors, and stay so after the Node is deleted', () => {
    const state = create();
    const own = node('node-a', { podCIDRs: ['10.244.1.0/24'], internalIPs: ['192.168.0.2'] });
    const detector = () => state.nodeOptions.families.IPv4.localDetector?.kind;
    assert.equal(detector(), undefined);
    state.nodeChanged(added(own));
    state.nodeChanged({ type: 'removed', from: own });
    assert.equal(detector(), 'source-cidr');
    assert.equal(state.nodeOptions.nodeIPs.IPv4, '192.168.0.2');
    assert.equal(state.ownNode, own);
  });

  test('SYNC-3 a service range stays as long as any ServiceCIDR has it', () => {
    const state = create();
    const range = (name: string, ...cidrs: string[]): ServiceCIDR => ({
      kind: 'ServiceCIDR',
      metadata: { name, namespace: '', labels: {}, annotations: {} },
      cidrs,
    });
    state.serviceCidrChanged(added(range('kubernetes', '10.96.0.0/12', 'fd00:10:96::/108')));
    state.serviceCidrChanged(added(range('more', '10.112.0.0/16', '10.96.0.0/12')));
    assert.deepEqual(state.serviceCidrs, ['10.112.0.0/16', '10.96.0.0/12', 'fd00:10:96::/108']);
    state.serviceCidrChanged({ type: 'removed', from: range('more') });
    assert.deepEqual(state.serviceCidrs, ['10.96.0.0/12', 'fd00:10:96::/108']);
  });

  test('SYNC-3 both families have all Services; a slice moves to the other family with its address type', () => {
    const state = create();
    const dual = service('a', { clusterIPs: ['10.96.0.1', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'] });
    state.serviceChanged(added(dual));
    state.endpointSliceChanged(added(slice('a-1', ['10.0.0.1'])));
    state.take();
    const endpoints = (family: 'IPv4' | 'IPv6') =>
      state
        .family(family)
        .planner.plansOf('default/a')[0]
        ?.endpoints.cluster.map(({ ip }) => ip);
    assert.deepEqual([endpoints('IPv4'), endpoints('IPv6')], [['10.0.0.1'], []]);
    state.endpointSliceChanged(added(slice('a-1', ['fd00::9'])));
    state.take();
    assert.deepEqual([endpoints('IPv4'), endpoints('IPv6')], [[], ['fd00::9']]);
    state.serviceChanged({ type: 'removed', from: dual });
    assert.equal(state.take().IPv6.plans.removed.length, 1);
  });

  test('METRICS-2 a change of a Service counts once for each family, and a slice without a Service does not count', () => {
    for (const [families, services] of [
      [undefined, 2],
      [['IPv4'] as const, 1],
    ] as const) {
      const state = create(families);
      state.serviceChanged(added(service('a')));
      state.endpointSliceChanged(added(slice('a-1', ['10.0.0.1'])));
      const { metadata, ...rest } = slice('b-1', ['10.0.0.2']);
      state.endpointSliceChanged(added({ ...rest, metadata: { ...metadata, labels: {} } }));
      assert.deepEqual(state.changes, { services, endpointSlices: 1 });
    }
  });
});
