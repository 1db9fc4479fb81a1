import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { service, slice } from '../../test/support/objects.ts';
import { countSlots } from '../../test/support/slots.ts';
import type { EndpointSlice } from '../api/index.ts';
import { ProxyState } from '../proxy/index.ts';
import {
  DEFAULT_PLAN_SETTINGS,
  type LiveEndpoints,
  type PlanSettings,
  planService,
  type ServicePortPlan,
  samePlan,
  slotsOf,
} from './index.ts';

type Annotations = Readonly<Record<string, string>>;

interface Situation {
  readonly nodeName?: string;
  readonly annotations?: Annotations;
  readonly settings?: Partial<PlanSettings>;
  readonly spec?: Parameters<typeof service>[1];
  readonly slice?: EndpointSlice;
}

const ENDPOINTS = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];

/** The plans of one Service in both families. */
function plansOf(
  { nodeName = 'node-a', annotations = {}, settings, spec, ...more }: Situation,
  ...slices: EndpointSlice[]
) {
  const state = new ProxyState({
    nodeName,
    settings: { ...DEFAULT_PLAN_SETTINGS, ...settings },
    startedAt: 0,
    report: ({ message }) => assert.fail(message),
  });
  state.serviceChanged({ type: 'added', to: service('web', { annotations, ...spec }) });
  for (const to of [more.slice ?? slice('web-1', ENDPOINTS), ...slices]) {
    state.endpointSliceChanged({ type: 'added', to });
  }
  const { IPv4, IPv6 } = state.take();
  return { state, IPv4: IPv4.plans.added[0], IPv6: IPv6.plans.added[0] };
}

function planOf(situation: Situation): ServicePortPlan {
  const plan = plansOf(situation).IPv4;
  assert.ok(plan);
  return plan;
}

const balance = (algorithm: string) => ({ 'pointsman.dev/balance': algorithm });

/** How many slots each address has, in the order of addresses. */
function slotCounts(plan: ServicePortPlan, list: 'cluster' | 'local' = 'cluster'): Readonly<Record<string, number>> {
  const counts = countSlots(slotsOf(plan)[list].map(({ ip }) => ip));
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

describe('the algorithm of a plan', () => {
  test('BALANCE-5 without a choice, and without anything to know, a plan has no balance', () => {
    const plan = planOf({});
    assert.equal(plan.balance, undefined);
    assert.equal(slotsOf(plan).cluster, plan.endpoints.cluster);
  });

  test('BALANCE-1 BALANCE-2 the annotation wins over the default of the operator', () => {
    const settings = { defaultAlgorithm: 'round-robin' } as const;
    assert.equal(planOf({ settings }).balance?.algorithm, 'round-robin');
    const annotations = { ...balance('consistent-hash'), 'pointsman.dev/hash-by': 'client-address-and-port' };
    const { algorithm, hashBy, unavailable } = planOf({ annotations, settings }).balance ?? {};
    assert.deepEqual([algorithm, hashBy, unavailable], ['consistent-hash', 'client-address-and-port', undefined]);
  });

  test('BALANCE-3 a plan keeps what the mode cannot do, and has the usual endpoints', () => {
    const annotations = { ...balance('weighted'), 'pointsman.dev/weights': '10.0.0.1=9' };
    const plan = planOf({ annotations, settings: { algorithms: [] } });
    assert.deepEqual([plan.balance?.algorithm, plan.balance?.unavailable], [undefined, 'weighted']);
    assert.equal(plan.balance?.slots.cluster, plan.endpoints.cluster);
  });

  test('BALANCE-4 a default that the mode cannot do leaves plans as they are', () => {
    const settings = { defaultAlgorithm: 'weighted', algorithms: ['random'] } as const;
    assert.equal(planOf({ settings }).balance, undefined);
  });

  test('BALANCE-13 session affinity and an algorithm are both in the plan', () => {
    const { port, balance: own } = planOf({
      annotations: balance('consistent-hash'),
      spec: { sessionAffinity: 'ClientIP' },
    });
    assert.ok(port.affinitySeconds > 0);
    assert.equal(own?.algorithm, 'consistent-hash');
  });
});

describe('the slots of a plan', () => {
  test('BALANCE-6 random and turns have one slot for each endpoint', () => {
    for (const algorithm of ['random', 'round-robin', 'least-connections']) {
      const plan = planOf({ annotations: balance(algorithm) });
      assert.deepEqual(slotCounts(plan), { '10.0.0.1': 1, '10.0.0.2': 1, '10.0.0.3': 1 }, algorithm);
    }
  });

  test('BALANCE-7 weights of a Service come before those of a slice, and zones multiply them', () => {
    const from = slice('web-1', [
      { ip: '10.0.0.1', zone: 'zone-a' },
      { ip: '10.0.0.2', zone: 'zone-b' },
      { ip: '10.0.0.3' },
    ]);
    const weighed = {
      ...from,
      metadata: { ...from.metadata, annotations: { 'pointsman.dev/weights': '10.0.0.1=7,10.0.0.2=5' } },
    };
    const annotations = {
      ...balance('weighted'),
      'pointsman.dev/weights': '10.0.0.1=3',
      'pointsman.dev/zone-weights': 'zone-a=2,zone-b=1',
    };
    assert.deepEqual(slotCounts(planOf({ annotations, slice: weighed })), {
      '10.0.0.1': 6,
      '10.0.0.2': 5,
      '10.0.0.3': 1,
    });
  });

  test('BALANCE-7 only the algorithm weighted uses weights', () => {
    const annotations = { ...balance('random'), 'pointsman.dev/weights': '10.0.0.1=3' };
    assert.deepEqual(slotCounts(planOf({ annotations })), { '10.0.0.1': 1, '10.0.0.2': 1, '10.0.0.3': 1 });
  });

  test('BALANCE-7 an endpoint with weight 0 gets no connections, unless all have weight 0', () => {
    const weights = (text: string) => ({ ...balance('weighted'), 'pointsman.dev/weights': text });
    const some = planOf({ annotations: weights('10.0.0.1=0,10.0.0.2=2') });
    assert.deepEqual(slotCounts(some), { '10.0.0.2': 2, '10.0.0.3': 1 });
    const none = planOf({ annotations: weights('10.0.0.1=0,10.0.0.2=0,10.0.0.3=0') });
    assert.deepEqual(slotCounts(none), { '10.0.0.1': 1, '10.0.0.2': 1, '10.0.0.3': 1 });
  });

  test('BALANCE-14 the local endpoints have slots of their own, also if all of them have weight 0', () => {
    const plan = planOf({
      annotations: { ...balance('weighted'), 'pointsman.dev/weights': '10.0.0.1=0,10.0.0.2=3' },
      spec: { type: 'NodePort', externalTrafficPolicy: 'Local', ports: [{ nodePort: 30080 }] },
      slice: slice('web-1', [{ ip: '10.0.0.1', nodeName: 'node-a' }, '10.0.0.2', '10.0.0.3']),
    });
    assert.deepEqual(slotCounts(plan), { '10.0.0.2': 3, '10.0.0.3': 1 });
    assert.deepEqual(slotCounts(plan, 'local'), { '10.0.0.1': 1 });
  });

  test('BALANCE-12 each family has a table of its own endpoints', () => {
    const { IPv4, IPv6 } = plansOf(
      {
        annotations: balance('consistent-hash'),
        spec: { clusterIPs: ['10.96.0.1', 'fd00:10:96::1'], ipFamilies: ['IPv4', 'IPv6'] },
      },
      slice('web-6', ['fd00:10:244::1', 'fd00:10:244::2']),
    );
    assert.deepEqual(new Set(IPv4?.balance?.slots.cluster.map(({ ip }) => ip)), new Set(ENDPOINTS));
    assert.equal(new Set(IPv6?.balance?.slots.cluster).size, 2);
    assert.equal(IPv6?.balance?.slots.cluster.length, 4093);
  });

  test('BALANCE-15 what the proxy learned about endpoints multiplies weights, without any annotation, too', () => {
    const live: LiveEndpoints = {
      of: id =>
        id === 'default/web/TCP'
          ? {
              share: ({ ip }) => (ip === '10.0.0.1' ? 0.5 : 1),
              isInSlowStart: ({ ip }) => ip === '10.0.0.1',
              isEjected: ({ ip }) => ip === '10.0.0.3',
            }
          : undefined,
    };
    const livePlan = (annotations: Annotations) => {
      const { state } = plansOf({ annotations });
      const web = state.family('IPv4').model.service('default/web');
      const [plan] = web ? planService(web, state.nodeOptions.families.IPv4, live) : [];
      assert.ok(plan);
      return plan;
    };
    const plan = livePlan({});
    assert.deepEqual(slotCounts(plan), { '10.0.0.1': 1, '10.0.0.2': 2 });
    assert.deepEqual([plan.balance?.algorithm, plan.balance?.isInSlowStart], [undefined, true]);
    const weighed = livePlan({ ...balance('weighted'), 'pointsman.dev/weights': '10.0.0.1=6,10.0.0.2=1' });
    assert.deepEqual(slotCounts(weighed), { '10.0.0.1': 3, '10.0.0.2': 1 });
  });

  test('BALANCE-61 plans differ if an endpoint leaves slow start, also if all weights stay', () => {
    const planWith = (isInSlowStart: boolean) => {
      const { state } = plansOf({ annotations: balance('least-connections') });
      const web = state.family('IPv4').model.service('default/web');
      const port = { share: ({ ip }: { ip: string }) => (ip === '10.0.0.1' ? 0.5 : 1), isEjected: () => false };
      const live = { of: () => ({ ...port, isInSlowStart: () => isInSlowStart }) };
      return web ? planService(web, state.nodeOptions.families.IPv4, live)[0] : undefined;
    };
    const [slow, usual] = [planWith(true), planWith(false)];
    assert.ok(slow && usual);
    assert.deepEqual([slow.balance?.isInSlowStart, usual.balance?.isInSlowStart], [true, false]);
    assert.deepEqual(slotCounts(slow), slotCounts(usual));
    assert.equal(samePlan(slow, usual), false);
  });
});

test('BALANCE-6 the first turn depends on the node and on the number of slots', () => {
  const firstOf = (nodeName: string, count: number) => {
    const ips = Array.from({ length: count }, (_, i) => `10.0.0.${i + 100}`);
    const plan = planOf({ nodeName, annotations: balance('round-robin'), slice: slice('web-1', ips) });
    const texts = slotsOf(plan).cluster.map(({ ip }) => ip);
    const first = texts[0] ?? '';
    assert.deepEqual(texts, [...ips.slice(ips.indexOf(first)), ...ips.slice(0, ips.indexOf(first))]);
    return first;
  };
  const nodes = Array.from({ length: 40 }, (_, i) => firstOf(`node-${i}`, 4));
  assert.equal(new Set(nodes).size, 4);
  assert.ok(new Set(Array.from({ length: 40 }, (_, i) => firstOf('node-a', i + 2))).size > 4);
});
