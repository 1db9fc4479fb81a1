import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { service, slice } from '../../test/support/objects.ts';
import { ProxyState } from '../proxy/index.ts';
import { DEFAULT_PLAN_SETTINGS, type PlanSettings, type ServicePortPlan } from './index.ts';

type Annotations = Readonly<Record<string, string>>;

const ENDPOINTS = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];

/** The plan of one Service with these annotations. */
function planOf(annotations: Annotations, settings: Partial<PlanSettings> = {}): ServicePortPlan {
  const state = new ProxyState({
    nodeName: 'node-a',
    settings: { ...DEFAULT_PLAN_SETTINGS, ...settings },
    startedAt: 0,
    report: ({ message }) => assert.fail(message),
  });
  state.serviceChanged({ type: 'added', to: service('web', { annotations }) });
  state.endpointSliceChanged({ type: 'added', to: slice('web-1', ENDPOINTS) });
  const [plan] = state.take().IPv4.plans.added;
  assert.ok(plan);
  return plan;
}

const balanceOf = (...given: Parameters<typeof planOf>) => planOf(...given).balance;

describe('the algorithm of a plan', () => {
  test('BALANCE-5 without a choice, and without anything to know, a plan has no balance', () => {
    assert.equal(balanceOf({}), undefined);
  });

  test('BALANCE-1 BALANCE-2 the annotation wins over the default of the operator', () => {
    const settings = { defaultAlgorithm: 'round-robin' } as const;
    assert.equal(balanceOf({}, settings)?.algorithm, 'round-robin');
    const hashed = { 'pointsman.dev/balance': 'consistent-hash', 'pointsman.dev/hash-by': 'client-address-and-port' };
    const { algorithm, hashBy, unavailable } = balanceOf(hashed, settings) ?? {};
    assert.deepEqual([algorithm, hashBy, unavailable], ['consistent-hash', 'client-address-and-port', undefined]);
  });

  test('BALANCE-3 a plan keeps what the mode cannot do, and has the usual endpoints', () => {
    const plan = planOf(
      { 'pointsman.dev/balance': 'weighted', 'pointsman.dev/weights': '10.0.0.1=9' },
      { algorithms: [] },
    );
    assert.deepEqual([plan.balance?.algorithm, plan.balance?.unavailable], [undefined, 'weighted']);
    assert.equal(plan.balance?.slots.cluster, plan.endpoints.cluster);
  });

  test('BALANCE-4 a default that the mode cannot do leaves plans as they are', () => {
    assert.equal(balanceOf({}, { defaultAlgorithm: 'weighted', algorithms: ['random'] }), undefined);
  });
});
